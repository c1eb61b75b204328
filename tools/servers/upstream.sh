#!/usr/bin/env bash
# The upstream command line whose files ours must be exchangeable with.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=upstream variable=LAPSTRAKE_TEST_RIVET

do_install() { venv upstream; }
do_start() { :; }
do_env() {
  venv_path upstream
  [[ -x $VENV/bin/rivet ]] || die "upstream is not installed"
  export_line "$VENV/bin/rivet"
}

server_main "$@"
