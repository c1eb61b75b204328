#!/usr/bin/env bash
# usage: tools/bench.sh own|peers [FLAG...]
#
# Starts a PostgreSQL and a MariaDB of its own, measures one after the other
# (flags: go run ./tools/bench own -h), stops them. BENCH_KEEP=1 keeps servers and
# tables for the next time; BENCH_ENGINES=mariadb measures that one only.
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

read -ra engines <<<"${BENCH_ENGINES:-postgres mariadb}"
wanted=("${engines[@]}")
[[ $what != peers ]] || wanted+=(peers upstream)
variables=$(tools/servers/up "${wanted[@]}")
eval "$variables"
make --no-print-directory build
mkdir -p build/bench
go build -o build/bench/bench ./tools/bench
for engine in "${engines[@]}"; do
  url=LAPSTRAKE_TEST_${engine^^}_URL
  build/bench/bench "$what" -url "${!url}" -python "${LAPSTRAKE_TEST_PEERS:-}" -rivet "${LAPSTRAKE_TEST_RIVET:-}" "$@"
done
