#!/usr/bin/env bash
# asl-validator (Apache-2.0), which checks state machines.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=asl variable=LAPSTRAKE_TEST_ASL_VALIDATOR
PACKAGE=asl-validator@4.0.0
AT=$CACHE/npm/$PACKAGE

do_install() {
  [[ ! -x $AT/node_modules/.bin/asl-validator ]] || return 0
  need npm npm
  mkdir -p "$AT"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$AT" "$PACKAGE"
}
do_start() { :; }
do_env() {
  [[ -x $AT/node_modules/.bin/asl-validator ]] || die "asl-validator is not installed"
  export_line "$AT/node_modules/.bin/asl-validator"
}

server_main "$@"
