# shellcheck shell=bash
# Sourced by the scripts beside it. A script sets `server` and `variable` (the
# one that `env` exports), defines do_install, do_start and do_env, and ends
# with: server_main "$@"
#
# Everything lives under $CACHE (binaries, kept between runs) and $RUN (one set
# of running servers: pid, port, log, data). Servers listen on 127.0.0.1 only
# and are stopped by the pid that was started, never by name.
set -euo pipefail
umask 022
server='' variable=''

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
CACHE=${LAPSTRAKE_CACHE:-/var/tmp/lapstrake-cache}
# A cache that another user made cannot be shared with them: take one of our own.
if [[ -z ${LAPSTRAKE_CACHE:-} && -e $CACHE && ! -O $CACHE ]]; then
  CACHE=$CACHE-$UID
fi
# The default set of servers belongs to this checkout, not to the machine.
RUN=${LAPSTRAKE_RUN:-dev}
if [[ $RUN != /* ]]; then
  RUN=$CACHE/run/$RUN-$(printf %s "$ROOT" | cksum | cut -d' ' -f1)
fi
# How long a server may take until it answers. Generous: other builds may share the machine.
START_LIMIT=${LAPSTRAKE_START_LIMIT:-180}

mkdir -p "$CACHE"/{lock,run} && chmod 0755 "$CACHE"

case $(uname -m) in
x86_64) ARCH=amd64 ;;
aarch64 | arm64) ARCH=arm64 ;;
*) ARCH=$(uname -m) ;;
esac
export ARCH

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# locked NAME CMD...: one holder a name on this machine. The lock ends with CMD,
# so whatever CMD leaves running must not inherit descriptor 9 (see launch).
locked() {
  local name=$1
  shift
  (
    flock 9
    "$@"
  ) 9>"$CACHE/lock/$name"
}

apt_install() {
  local log=$CACHE/apt.log
  # Package lists older than a day may name files that are gone.
  if [[ -z $(find "$CACHE/apt-updated" -mmin -1440 2>/dev/null) ]]; then
    if apt-get update -qq >"$log" 2>&1 </dev/null; then
      touch "$CACHE/apt-updated"
    else
      say "apt-get update failed, trying with the lists that are there:"
      tail -n 3 "$log" >&2
    fi
  fi
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq \
    --no-install-recommends "$@" >>"$log" 2>&1 9>&- </dev/null || { tail -n 5 "$log" >&2; return 1; }
}

# need CMD PACKAGE: CMD is there, or root gets it from the Debian package.
need() {
  command -v "$1" >/dev/null || from_package "$1" "$2"
  hash -r
  command -v "$1" >/dev/null || die "$1 is still missing after the package $2 was installed"
}

need_venv() {
  need python3 python3
  python3 -c 'import ensurepip, venv' 2>/dev/null || from_package "Python's venv" python3-venv
}

from_package() { # from_package WHAT PACKAGE...
  local what=$1
  shift
  if [[ $UID != 0 || -n ${LAPSTRAKE_NO_APT:-} ]] || ! command -v apt-get >/dev/null; then
    die "$what is not installed: install it (on Debian: $*) and try again"
  fi
  say "installing from packages: $*"
  locked apt apt_install "$@"
}

# venv NAME: a Python environment with exactly requirements/NAME.txt.
# Sets VENV; the folder's name holds the file's checksum, so new pins make a new one.
venv_path() { VENV=$CACHE/venv/$1-$(cksum <"$ROOT/tools/servers/requirements/$1.txt" | cut -d' ' -f1); }
venv() {
  venv_path "$1"
  [[ -e $VENV/.complete ]] && return
  need_venv
  rm -rf "$VENV"
  python3 -m venv "$VENV"
  "$VENV/bin/python" -m pip install -q --disable-pip-version-check --no-input \
    -r "$ROOT/tools/servers/requirements/$1.txt"
  touch "$VENV/.complete"
}

# go_tool MODULE/PACKAGE@VERSION: sets TOOL to the built command.
go_tool_path() {
  local pkg=${1%@*}
  TOOL=$CACHE/go/${pkg##*/}-${1##*@}/${pkg##*/}
}
go_tool() {
  go_tool_path "$1"
  [[ -x $TOOL ]] && return
  need go golang-go
  local tmp
  tmp=$(mktemp -d "$CACHE/build.XXXXXX")
  # Outside of any module: the tool's own go.mod decides.
  (cd "$tmp" && GOBIN=$tmp CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off go install "$1") || { rm -rf "$tmp"; return 1; }
  mkdir -p "$(dirname "$TOOL")"
  mv "$tmp/${TOOL##*/}" "$TOOL"
  rm -rf "$tmp"
}

# maven GOAL ARGS...: the dependency plugin, one at a time (Maven's local
# repository is not made for two writers).
maven() {
  need mvn maven
  local goal=$1
  shift
  locked maven mvn -q -B -ntp "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:$goal" "$@" >&2
}

interrupted=0

# --- running servers -------------------------------------------------------

# started_at PID: the kernel's start time of the process, so that a number used
# again by another process is not mistaken for ours.
started_at() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086 # split into fields on purpose
  set -- $stat
  [[ $1 != Z ]] || return 1
  printf '%s\n' "${20}"
}

alive() { # alive [DIR]: the server recorded in DIR runs
  local dir=${1:-$RUN/$server} pid since
  read -r pid since 2>/dev/null <"$dir/pid" || return 1
  [[ -n $since && $(started_at "$pid") == "$since" ]]
}

port_taken() {
  # Something answers there, or another run of ours has it on its list.
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
  grep -qsx "$1" "$CACHE"/run/*/*/port
}

find_port() {
  local port i
  for ((i = 0; i < 500; i++)); do
    if [[ -n ${LAPSTRAKE_PORT_BASE:-} ]]; then
      port=$((LAPSTRAKE_PORT_BASE + i))
    else
      port=$((20000 + RANDOM % 12000)) # below the range that outgoing connections use
    fi
    port_taken "$port" && continue
    printf '%s\n' "$port" >"$RUN/$server/port"
    return
  done
  die "$server: no free port"
}

# take_port: sets PORT and writes it down for the others.
take_port() {
  locked ports find_port
  PORT=$(<"$RUN/$server/port")
}

# launch CMD...: runs the server in a process group of its own, so that a
# Ctrl-C reaches the runner first and the whole group can be ended at stop.
launch() {
  local pid since
  setsid "$@" >"$RUN/$server/log" 2>&1 </dev/null 9>&- &
  pid=$!
  since=$(started_at "$pid" || true)
  printf '%s %s\n' "$pid" "$since" >"$RUN/$server/pid"
}

http_answers() { # http_answers PATH: any HTTP answer counts
  local line=
  exec 3<>"/dev/tcp/127.0.0.1/$PORT" || return 1
  printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$1" >&3
  IFS= read -r -t 3 line <&3 || true
  exec 3>&-
  [[ $line == HTTP/* ]]
}

# wait_until CMD...: returns once CMD succeeds, fails with the end of the log.
wait_until() {
  local begin=$SECONDS
  until ("$@") 2>/dev/null; do
    ((interrupted == 0)) || return 1
    if ! alive; then
      say "$server ended at start:"
      tail -n 20 "$RUN/$server/log" >&2
      return 1
    fi
    if ((SECONDS - begin > START_LIMIT)); then
      say "$server is not ready after $START_LIMIT s:"
      tail -n 20 "$RUN/$server/log" >&2
      return 1
    fi
    sleep 0.1
  done
}

# stop_server DIR: ends the recorded process and what it left behind in its group.
stop_server() {
  local dir=$1 pid i signal=TERM
  [[ -d $dir ]] || return 0
  if alive "$dir"; then
    read -r pid _ <"$dir/pid"
    [[ -r $dir/stop-signal ]] && signal=$(<"$dir/stop-signal")
    kill -s "$signal" "$pid" 2>/dev/null || true
    for ((i = 0; i < 100; i++)); do
      alive "$dir" || break
      sleep 0.1
    done
    kill -s KILL -- "-$pid" 2>/dev/null || true
  fi
  rm -rf "$dir"
}

start_server() {
  local attempt status
  if alive; then
    say "$server runs already"
    return
  fi
  # A free port can be lost between the look and the bind: then try another.
  for attempt in 1 2 3; do
    stop_server "$RUN/$server"
    mkdir -p "$RUN/$server"
    printf '%s\n' "$ROOT" >"$RUN/checkout"
    # Not as a condition: there a failing step would not end do_start.
    set +e
    (
      set -e
      # A signal between the start and the note of its pid would leave a server
      # that nobody knows of: finish the note, then give up (see wait_until).
      trap 'interrupted=1' INT TERM
      do_start
    )
    status=$?
    set -e
    ((status)) || return 0
    grep -qiE 'address already in use|could not bind|EADDRINUSE|BindException' "$RUN/$server/log" 2>/dev/null || break
    say "$server: port lost to another process, attempt $attempt"
  done
  stop_server "$RUN/$server"
  return 1
}

server_main() {
  case ${1:-} in
  install) locked "install-$server" do_install ;;
  start) locked "start-$(printf %s "$RUN/$server" | cksum | cut -d' ' -f1)" start_server ;;
  stop) stop_server "$RUN/$server" ;;
  env)
    if [[ -r $RUN/$server/port ]]; then
      PORT=$(<"$RUN/$server/port")
      alive || die "$server does not run"
    fi
    do_env
    ;;
  variable) printf '%s\n' "$variable" ;;
  *) die "usage: ${0##*/} install|start|stop|env|variable" ;;
  esac
}

# export_line VALUE: what `env` prints.
export_line() { printf 'export %s=%q\n' "$variable" "$1"; }
