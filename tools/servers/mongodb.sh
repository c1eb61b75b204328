#!/usr/bin/env bash
# SecantusDB (GPL-2.0, a process of its own) in MongoDB's place: a replica set of
# one member that keeps everything in a folder of the run.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=mongodb variable=LAPSTRAKE_TEST_MONGODB_URL

do_install() { venv mongodb; }

accepts() { grep -q "secantus listening on" "$RUN/$server/log"; }

do_start() {
  venv_path mongodb
  [[ -e $VENV/.complete ]] || die "$server is not installed"
  take_port
  mkdir -p "$RUN/$server/data"
  cd "$RUN/$server"
  # Fail points are how the tests make the server answer with an error.
  launch "$VENV/bin/secantusd-py" --host 127.0.0.1 --port "$PORT" --storage-path "$RUN/$server/data" \
    --cache-size 256M --enable-test-commands
  wait_until accepts
}

do_env() { export_line "mongodb://127.0.0.1:$PORT/test?directConnection=true"; }

server_main "$@"
