#!/usr/bin/env bash
# MiniStack (MIT): S3, SQS, DynamoDB, Lambda (runs the bootstrap zips natively),
# Step Functions, EventBridge, Scheduler, Secrets Manager in one process.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=ministack variable=LAPSTRAKE_TEST_AWS_ENDPOINT

do_install() { venv ministack; }

do_start() {
  venv_path ministack
  take_port
  mkdir -p "$RUN/$server/data"
  # AWS_ENDPOINT_URL reaches the functions too: without it they would call the real AWS.
  AWS_ENDPOINT_URL=http://127.0.0.1:$PORT BIND_HOST=127.0.0.1 MINISTACK_HOST=127.0.0.1 \
    GATEWAY_PORT=$PORT STATE_DIR=$RUN/$server/data \
    SERVICES=s3,sqs,dynamodb,dynamodbstreams,lambda,stepfunctions,events,scheduler,secretsmanager,ssm,iam,sts,logs,sns \
    launch "$VENV/bin/ministack"
  wait_until http_answers /health
}

do_env() { export_line "http://127.0.0.1:$PORT"; }

server_main "$@"
