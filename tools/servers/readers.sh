#!/usr/bin/env bash
# pyarrow and DuckDB: two independent readers of what the part writers write.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=readers

do_install() { venv readers; }
do_start() { :; }
do_env() {
  venv_path readers
  [[ -e $VENV/.complete ]] || die "readers are not installed"
  export_line LAPSTRAKE_TEST_PYTHON "$VENV/bin/python"
}

server_main "$@"
