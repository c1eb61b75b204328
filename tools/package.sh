#!/usr/bin/env bash
# usage: tools/package.sh arm64|amd64 [FOLDER]
# Builds dist/lambda/<arch>/<function>.zip, or FOLDER/<function>.zip, for every
# function that runs on Lambda. Equal sources give equal bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:?usage: tools/package.sh arm64|amd64 [FOLDER]}
case $arch in
arm64 | amd64) ;;
*) echo "ARCH is $arch: Lambda runs arm64 and amd64" >&2; exit 2 ;;
esac
out=${2:-dist/lambda/$arch}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/zipbootstrap" ./tools/zipbootstrap
for main in functions/*/aws; do
  [[ -d $main ]] || { echo "no function to package" >&2; exit 1; }
  name=$(basename "$(dirname "$main")")
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false \
    -tags lambda.norpc -ldflags '-s -w' -o "$work/$name" "./$main"
  "$work/zipbootstrap" "$work/$name" "$out/$name.zip"
  echo "$out/$name.zip"
done
