#!/usr/bin/env bash
# tflint (MPL-2.0) with the rules that it brings; those for AWS are not among the packages.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=tflint variable=LAPSTRAKE_TEST_TFLINT
PACKAGE=github.com/terraform-linters/tflint@v0.64.0

do_install() { go_tool "$PACKAGE"; }
do_start() { :; }
do_env() {
  go_tool_path "$PACKAGE"
  [[ -x $TOOL ]] || die "tflint is not installed"
  export_line "$TOOL"
}

server_main "$@"
