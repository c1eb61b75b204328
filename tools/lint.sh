#!/usr/bin/env bash
# Format, vet, staticcheck, shellcheck.
# shellcheck source=servers/common.sh
. "$(dirname "$0")/servers/common.sh"
cd "$ROOT"
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2
status=0

mapfile -d '' files < <(git ls-files -z --cached --others --exclude-standard '*.go')
existing=()
for file in "${files[@]}"; do [[ ! -e $file ]] || existing+=("$file"); done
unformatted=$(gofmt -l "${existing[@]}")
if [[ -n $unformatted ]]; then
  printf 'not formatted with gofmt:\n%s\n' "$unformatted"
  status=1
fi
go vet ./... || status=1
go run "$STATICCHECK" ./... || status=1
if command -v shellcheck >/dev/null; then
  mapfile -t scripts < <(git ls-files --cached --others --exclude-standard | while read -r file; do
    if [[ -f $file ]] && head -c 60 "$file" | grep -qaE '^#!.*\bbash|^# shellcheck shell='; then printf '%s\n' "$file"; fi
  done)
  shellcheck "${scripts[@]}" || status=1
else
  say 'shellcheck is not installed: shell scripts were not checked'
fi
exit "$status"
