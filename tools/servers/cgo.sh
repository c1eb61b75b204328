#!/usr/bin/env bash
# A C compiler, which the race detector needs.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=cgo variable=CGO_ENABLED

links() { printf '#include <stdlib.h>\nint main(void) { return 0; }\n' | gcc -x c -o /dev/null - 2>/dev/null; }

do_install() {
  links || from_package "a C compiler" gcc libc6-dev
  links || die "gcc cannot build a program"
}
do_start() { :; }
do_env() {
  links || die "cgo is not installed"
  export_line 1
}

server_main "$@"
