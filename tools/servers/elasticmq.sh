#!/usr/bin/env bash
# ElasticMQ (Apache-2.0): the most faithful SQS to be had, with dead-letter
# queues and message-move tasks. Queue ARNs say region "elasticmq", account 000000000000.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=elasticmq variable=LAPSTRAKE_TEST_SQS_ENDPOINT
VERSION=1.6.12
HOME_DIR=$CACHE/elasticmq-$VERSION

do_install() {
  need java default-jre-headless
  [[ -e $HOME_DIR/.complete ]] && return
  rm -rf "$HOME_DIR"
  mkdir -p "$HOME_DIR"
  cat >"$HOME_DIR/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>lapstrake.test</groupId><artifactId>elasticmq</artifactId><version>1</version>
<dependencies><dependency><groupId>org.elasticmq</groupId><artifactId>elasticmq-server_2.13</artifactId><version>$VERSION</version></dependency></dependencies>
</project>
XML
  maven copy-dependencies -f "$HOME_DIR/pom.xml" "-DoutputDirectory=$HOME_DIR/lib"
  touch "$HOME_DIR/.complete"
}

do_start() {
  take_port
  cat >"$RUN/$server/elasticmq.conf" <<CONF
include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = $PORT, context-path = "" }
rest-sqs { enabled = true, bind-port = $PORT, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
CONF
  launch java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    "-Dconfig.file=$RUN/$server/elasticmq.conf" -cp "$HOME_DIR/lib/*" org.elasticmq.server.Main
  wait_until http_answers '/?Action=ListQueues'
}

do_env() { export_line "http://127.0.0.1:$PORT"; }

server_main "$@"
