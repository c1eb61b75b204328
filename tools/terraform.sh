#!/usr/bin/env bash
# usage: eval "$(tools/servers/up tofu tflint asl)"; tools/terraform.sh
# Format, schema, native tests and lint of infra/terraform, and its state
# machines. No plan is made against AWS: the provider has a schema only.
set -euo pipefail
cd "$(dirname "$0")/../infra/terraform"
tofu=${LAPSTRAKE_TEST_TOFU:?run it as: make tf-validate}
tflint=${LAPSTRAKE_TEST_TFLINT:?run it as: make tf-validate}
validator=${LAPSTRAKE_TEST_ASL_VALIDATOR:?run it as: make tf-validate}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
check() { # check WHAT CMD...
  local what=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    printf 'ok   %s\n' "$what"
  else
    printf 'FAIL %s\n' "$what"
    cat "$work/log"
    status=1
  fi
}

check "format" "$tofu" fmt -check -recursive -diff .
for folder in modules/* examples/*; do
  [[ -e $folder/versions.tf ]] || continue
  export TF_DATA_DIR=$work/${folder//\//-}
  check "$folder: providers and modules" "$tofu" -chdir="$folder" init -backend=false -input=false -no-color
  check "$folder: schema" "$tofu" -chdir="$folder" validate -no-color
  if compgen -G "$folder/tests/*.tftest.hcl" >/dev/null; then
    check "$folder: tests" "$tofu" -chdir="$folder" test -no-color
  fi
  rm -f "$folder/.terraform.lock.hcl" # of the stand-in: its checksums are nobody's
  check "$folder: lint" "$tflint" --chdir="$folder" --no-color --config="$PWD/.tflint.hcl"
done
for machine in examples/*/*.asl.json; do
  check "$machine" "$validator" --json-path "$machine"
done
exit "$status"
