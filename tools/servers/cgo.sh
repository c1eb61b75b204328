#!/usr/bin/env bash
# A C compiler, which the race detector needs.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=cgo variable=CGO_ENABLED

links() { printf '#include <stdlib.h>\nint main(void) { return 0; }\n' | gcc -x c -o /dev/null - 2>/dev/null; }

do_install() {
  need gcc gcc
  links || from_package "the C library's headers" libc6-dev
}
do_start() { :; }
do_env() {
  command -v gcc >/dev/null || die "cgo is not installed"
  export_line 1
}

server_main "$@"
