#!/usr/bin/env bash
# Other tools that export tables, for `make bench-peers`.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=peers variable=LAPSTRAKE_TEST_PEERS

do_install() { venv peers; }
do_start() { :; }
do_env() {
  venv_path peers
  [[ -e $VENV/.complete ]] || die "peers are not installed"
  export_line "$VENV/bin/python"
}

server_main "$@"
