#!/usr/bin/env bash
# The Lambda runtime interface emulator (Apache-2.0). The tests start it
# themselves, one process a function and one request at a time: two at once end it.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=rie variable=LAPSTRAKE_TEST_RIE
PACKAGE=github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d

do_install() { go_tool "$PACKAGE"; }
do_start() { :; }
do_env() {
  go_tool_path "$PACKAGE"
  [[ -x $TOOL ]] || die "rie is not installed"
  export_line "$TOOL"
}

server_main "$@"
