#!/usr/bin/env bash
# pyarrow, DuckDB, Polars and DataFusion: independent readers of what the part writers write.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=readers variable=LAPSTRAKE_TEST_PYTHON

do_install() { venv readers; }
do_start() { :; }
do_env() {
  venv_path readers
  [[ -e $VENV/.complete ]] || die "readers are not installed"
  export_line "$VENV/bin/python"
}

server_main "$@"
