#!/usr/bin/env bash
# Versity S3 Gateway (Apache-2.0): the strictest S3 to be had without a cloud.
# It checks signatures, checksums and every conditional write.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=versitygw variable=LAPSTRAKE_TEST_S3_ENDPOINT
PACKAGE=github.com/versity/versitygw/cmd/versitygw@v1.8.0

do_install() { go_tool "$PACKAGE"; }

do_start() {
  go_tool_path "$PACKAGE"
  take_port
  local data=$RUN/$server/data
  mkdir -p "$data"/{root,sidecar}
  ROOT_ACCESS_KEY=test ROOT_SECRET_KEY=testtest launch "$TOOL" --port "127.0.0.1:$PORT" \
    --health /health posix --sidecar "$data/sidecar" "$data/root"
  wait_until http_answers /health
}

do_env() { export_line "http://127.0.0.1:$PORT"; }

server_main "$@"
