#!/usr/bin/env bash
# usage: tools/bench.sh own|peers [FLAG...]
#
# Starts a PostgreSQL of its own, measures (flags: go run ./tools/bench own -h),
# stops it. BENCH_KEEP=1 keeps server and tables for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?usage: tools/bench.sh own|peers [FLAG...]}
shift
export LAPSTRAKE_RUN=bench
finish() {
  if [[ -z ${BENCH_KEEP:-} ]]; then tools/servers/down >/dev/null 2>&1 || true; fi
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

wanted=(postgres)
[[ $what != peers ]] || wanted+=(peers upstream)
variables=$(tools/servers/up "${wanted[@]}")
eval "$variables"
make --no-print-directory build
mkdir -p build/bench
go build -o build/bench/bench ./tools/bench
build/bench/bench "$what" -url "$LAPSTRAKE_TEST_POSTGRES_URL" -python "${LAPSTRAKE_TEST_PEERS:-}" -rivet "${LAPSTRAKE_TEST_RIVET:-}" "$@"
