#!/usr/bin/env bash
# usage: tools/in-copy.sh CMD...
# Runs CMD in a copy of this checkout, as it stands but without ignored files:
# what CMD builds does not mix with what lies here, and it cannot rest on it.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
child=
finish() {
  local status=$?
  trap - EXIT
  # The command may have servers to stop before its folder goes away.
  if [[ -n $child ]] && kill -s TERM "$child" 2>/dev/null; then wait "$child" || true; fi
  rm -rf "$copy"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
  tar -c --null -T - | tar -x -C "$copy"
cd "$copy"
"$@" &
child=$!
wait "$child" && status=0 || status=$?
child=
exit "$status"
