#!/usr/bin/env bash
# usage: tools/test.sh [--all] [--list] [SUITE...]
#
# Installs and starts the servers that the suites need, runs the suites one
# after the other, prints one line as each ends, and stops what it started.
#
# LAPSTRAKE_REQUIRE=all  a server that cannot be had fails its suites instead of skipping them
# LAPSTRAKE_KEEP_LOGS=D  copies every log to folder D
# shellcheck source=servers/common.sh
. "$(dirname "$0")/servers/common.sh"
cd "$ROOT"

# The table: a name, the servers (folder tools/servers), the command.
# Each suite sees the variables of its servers and of no other.
#   -       no servers: tests that want one are skipped, and must run in another suite
#   a=b     server b takes the place of a, under a's variable
# `go test` is watched: no test run, or one without its server, is not a pass.
suites() {
  suite unit - go test -timeout 15m ./...
  suite lint shellcheck tools/lint.sh
  suite race cgo go test -race -timeout 15m ./shared/runstate/... ./shared/taskqueue/... ./shared/destination/... ./functions/...
  suite destination-s3 "versitygw ministack" go test ./shared/destination/...
  suite runstate-dynamodb "ministack" go test ./shared/runstate/...
  suite rules "versitygw ministack" go test -timeout 15m -run 'TestLaws/s3_dynamodb|TestRules/s3_dynamodb' ./functions/simulation
  suite taskqueue-sqs "elasticmq ministack" go test ./shared/taskqueue/...
  suite postgres-default "postgres" go test -timeout 15m ./shared/source/postgres/...
  suite postgres-oldest "postgres=postgres-oldest" go test -timeout 15m ./shared/source/postgres/...
  suite postgres-newest "postgres=postgres-newest" go test -timeout 15m ./shared/source/postgres/...
  if ((all)); then
    for major in 13 14 15 16 17; do
      suite "postgres-$major" "postgres=postgres-$major" go test -timeout 15m ./shared/source/postgres/...
    done
  fi
  suite mariadb-default "mariadb" go test -timeout 15m ./shared/source/mysql/...
  suite mariadb-newest "mariadb=mariadb-newest" go test -timeout 15m ./shared/source/mysql/...
  suite mongodb "mongodb" go test -timeout 15m ./shared/source/mongodb/...
  suite secrets-aws "ministack" go test ./shared/secrets/...
  suite crash "versitygw ministack" go test -parallel 6 -timeout 15m -run TestCrashAtEveryDurableStep ./functions/simulation
  suite exchange "readers upstream" go test ./shared/partfile/... ./shared/report/... ./shared/verify/...
  suite end-to-end "postgres postgres-oldest postgres-newest mariadb mariadb-newest mongodb versitygw ministack elasticmq rie readers upstream" go test -timeout 20m ./e2e/...
  suite local-cloud "postgres versitygw ministack elasticmq rie" go test -timeout 20m ./localstack/...
  # Compiles OpenTofu and tflint, which takes many minutes the first time. What
  # of the modules can be seen without them is tested by the suite unit.
  if ((all)) || [[ " ${wanted[*]} " == *" terraform "* ]]; then
    suite terraform "tofu tflint asl" tools/terraform.sh
  fi
  suite mutants - go run ./tools/mutants -within 8m
  suite demo - tools/in-copy.sh tools/demo.sh
}

all=0 list=0
while [[ ${1:-} == --* ]]; do
  case $1 in
  --all) all=1 ;;
  --list) list=1 ;;
  *) die "unknown option: $1" ;;
  esac
  shift
done
wanted=("$@")

names=() needs=() commands=()
suite() {
  local name=$1 servers=$2
  shift 2
  if ((${#wanted[@]})) && [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  [[ $servers != - ]] || servers=
  names+=("$name")
  needs+=("$servers")
  commands+=("$(printf '%q ' "$@")")
}
suites
if ((list)); then
  printf '%s\n' "${names[@]}"
  exit
fi
for name in "${wanted[@]}"; do
  [[ " ${names[*]} " == *" $name "* ]] || die "unknown suite: $name (see $0 --list)"
done

# --- the run's own folder, and its end ---------------------------------------

export LAPSTRAKE_CACHE=$CACHE
RUN=$CACHE/run/test-$$-$(date +%s)
export LAPSTRAKE_RUN=$RUN
mkdir -p "$RUN"/{logs,tmp}
printf '%s %s\n' $$ "$(started_at $$)" >"$RUN/pid" # the owner, for reap
printf '%s\n' "$ROOT" >"$RUN/checkout"

groups=() # process groups that this script started
retire() { # retire GROUP: it has ended; its number may soon be another's
  local i
  for i in "${!groups[@]}"; do [[ ${groups[i]} != "$1" ]] || unset "groups[i]"; done
  rm -rf "$RUN/group-$1"
}
end_groups() {
  local group i
  for group in "${groups[@]}"; do kill -s TERM -- "-$group" 2>/dev/null || true; done
  for ((i = 0; i < 50; i++)); do
    local left=0
    for group in "${groups[@]}"; do ! kill -0 -- "-$group" 2>/dev/null || left=1; done
    ((left)) || return 0
    sleep 0.1
  done
  for group in "${groups[@]}"; do kill -s KILL -- "-$group" 2>/dev/null || true; done
}
finish() {
  local status=$?
  trap '' INT TERM HUP
  trap - EXIT
  end_groups 2>/dev/null
  [[ -z ${LAPSTRAKE_KEEP_LOGS:-} ]] || { mkdir -p "$LAPSTRAKE_KEEP_LOGS" && cp -r "$RUN/logs/." "$LAPSTRAKE_KEEP_LOGS/"; }
  tools/servers/down
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# A run that was killed could not clean up: do it now.
tools/servers/down --stale
find "$CACHE" -maxdepth 1 -name 'build.*' -mmin +120 -exec rm -rf {} +

# background LOG CMD...: in a process group of its own, so that all of it can be
# ended; sets PID.
background() {
  local log=$1
  shift
  setsid "$@" >"$log" 2>&1 </dev/null &
  PID=$!
  groups+=("$PID")
  # Written down like a server, for the case that this script is killed.
  mkdir -p "$RUN/group-$PID"
  printf '%s %s\n' "$PID" "$(started_at "$PID" || true)" >"$RUN/group-$PID/pid"
}

# --- servers: all at once, behind the first suites ------------------------------

declare -A starter=() outcome=()
script() { # script NAME VERB
  local flavour=
  case $1 in *-*) flavour=${1#*-} ;; esac
  "tools/servers/${1%%-*}.sh" "$2" ${flavour:+"$flavour"}
}
begin_server() {
  local name=$1
  [[ -z ${starter[$name]:-} ]] || return 0
  background "$RUN/logs/server-$name" tools/servers/up "$name"
  starter[$name]=$PID
}
# ready NAME: waits for the server; its outcome is kept, as wait tells it only once.
ready() {
  local name=$1
  if [[ -z ${outcome[$name]:-} ]]; then
    if wait "${starter[$name]}"; then outcome[$name]=up; else outcome[$name]=down; fi
    retire "${starter[$name]}"
  fi
  [[ ${outcome[$name]} == up ]]
}
for list in "${needs[@]}"; do
  for need in $list; do begin_server "${need#*=}"; done
done

# environment LIST: prints the variables of the servers in LIST.
environment() {
  local need lines
  for need in $1; do
    lines=$(script "${need#*=}" env) || return 1
    case $need in
    *=*) printf 'export %s=%s\n' "$(script "${need%=*}" variable)" "${lines#*=}" ;;
    *) printf '%s\n' "$lines" ;;
    esac
  done
}

# --- suites -----------------------------------------------------------------------

passed=() skipped=() failed=()
pass() { passed+=("$1"); printf 'PASS %s %ss\n' "$1" "$2"; }
skip() { skipped+=("$1 ($2)"); printf 'SKIP %s (%s)\n' "$1" "$2"; }
fail() { failed+=("$1"); printf 'FAIL %s\n' "$1"; }
# lacking NAME REASON: not run in full. A failure where everything is required.
lacking() {
  if [[ ${LAPSTRAKE_REQUIRE:-} == all ]]; then
    printf '%s\n' "$2"
    fail "$1"
  else
    skip "$1" "$2"
  fi
}

# Nothing of the caller's own servers may reach a suite.
for variable in $(compgen -e LAPSTRAKE_TEST_ || true); do
  [[ $variable == LAPSTRAKE_TEST_SHARED ]] || unset "$variable"
done

# Else a C compiler that appears during the run would change how Go builds.
export CGO_ENABLED=0

go build -o "$RUN/tmp/suite" ./tools/suite

# run_suite NAME SERVERS COMMAND
run_suite() {
  local name=$1 servers=$2 command=$3 begin=$SECONDS need code out=$RUN/logs/$1 variables
  for need in $servers; do
    need=${need#*=}
    if ! ready "$need"; then
      cat "$RUN/logs/server-$need"
      lacking "$name" "no $need: $(grep -v '^false$' "$RUN/logs/server-$need" | tail -n 1 | cut -c1-120)"
      return
    fi
  done
  variables=$(environment "$servers") || { lacking "$name" "a server has ended"; return; }
  local flags=()
  if [[ -z ${servers/cgo/} ]]; then
    flags=(-skips-allowed)
    variables+=$'\nunset LAPSTRAKE_REQUIRE'
  fi
  case $command in
  "go test "*)
    command="$(printf '%q ' "$RUN/tmp/suite" "${flags[@]}" -log "$out.log" -tests "$out.tests" -- -count=1)${command#go test }"
    ;;
  esac
  background "$out" bash -c "$variables"$'\nexport TMPDIR='"$(printf %q "$RUN/tmp")"$'\nexec '"$command"
  code=0
  wait "$PID" || code=$?
  kill -s KILL -- "-$PID" 2>/dev/null || true # what the tests left running
  retire "$PID"
  case $code in
  0) pass "$name" $((SECONDS - begin)) ;;
  4) lacking "$name" "$(tail -n 1 "$out")" ;;
  *)
    cat "$out"
    fail "$name"
    ;;
  esac
}

for i in "${!names[@]}"; do
  run_suite "${names[i]}" "${needs[i]}" "${commands[i]}"
done

# A test that every suite skipped for want of a server belongs into the table.
if ((${#wanted[@]} + ${#skipped[@]} + ${#failed[@]} == 0)); then
  left_out=$(cat "$RUN"/logs/*.tests | awk '
    /LAPSTRAKE_TEST_SHARED/ { next } # a folder, which only some machines have
    { test = $2 " " $3 }
    $1 != "skip" { ran[test] = 1 }
    $1 == "skip" { why = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", why); reason[test] = why }
    END { for (test in reason) if (!(test in ran)) print test ": " reason[test] }' | sort)
  if [[ -n $left_out ]]; then
    printf 'tests that no suite ran:\n%s\n' "$left_out"
    ! grep -q 'is not set: run' <<<"$left_out" || fail left-out
  fi
fi

join() {
  local text
  text=$(printf '%s, ' "$@")
  printf '%s' "${text%, }"
}
line="${#passed[@]} suites passed, ${#skipped[@]} skipped"
((${#skipped[@]} == 0)) || line+=": $(join "${skipped[@]}")"
if ((${#failed[@]})); then
  last="$line, ${#failed[@]} failed: $(join "${failed[@]}")" status=1
else
  last=$line status=0
fi
printf '%s\n' "$last"
exit "$status"
