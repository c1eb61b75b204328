#!/usr/bin/env bash
# ShellCheck, for the lint suite.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=shellcheck

do_install() { need shellcheck shellcheck; }
do_start() { :; }
do_env() { :; } # found in PATH

server_main "$@"
