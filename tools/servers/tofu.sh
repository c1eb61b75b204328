#!/usr/bin/env bash
# OpenTofu (MPL-2.0), with a provider that has the AWS provider's schema and
# nothing else: the real one is not among the packages.
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2034 # read by common.sh
server=tofu variable=LAPSTRAKE_TEST_TOFU
MODULE=github.com/opentofu/opentofu VERSION=v1.12.6
STUB=$ROOT/infra/terraform/stubprovider

# One folder an edition of the sources, so that an older checkout keeps its own.
stub_path() { HOME_OF_STUB=$CACHE/tofu/$(cat "$STUB"/{*.go,go.mod,schema.json} | cksum | cut -d' ' -f1); }

# `go install` refuses a module with replace directives, so it is built from a
# copy of its sources. Checks keep no state in a cloud: without the clients of
# all of them the build takes half as long.
backends='backend(Azure|Consul|Cos|GCS|Kubernetes|OSS|Pg|S3)\b'
build_tofu() {
  go_tool_path "$MODULE/cmd/tofu@$VERSION"
  [[ ! -x $TOOL ]] || return 0
  need go golang-go
  local source tmp
  source=$(cd / && GOWORK=off go mod download -json "$MODULE@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  [[ -d $source ]] || die "$MODULE $VERSION cannot be had"
  tmp=$(mktemp -d "$CACHE/build.XXXXXX")
  cp -r "$source" "$tmp/source" && chmod -R u+w "$tmp/source"
  grep -vE "$backends" "$source/internal/backend/init/init.go" >"$tmp/source/internal/backend/init/init.go"
  (cd "$tmp/source" && CGO_ENABLED=0 GOWORK=off go build -mod=mod -buildvcs=false -trimpath \
    -ldflags "-s -w -X $MODULE/version.dev=no" -o "$tmp/tofu" ./cmd/tofu) || { rm -rf "$tmp"; return 1; }
  mkdir -p "$(dirname "$TOOL")"
  mv "$tmp/tofu" "$TOOL"
  rm -rf "$tmp"
}

# A mirror in the file system takes the place of the registry.
build_stub() {
  stub_path
  [[ ! -e $HOME_OF_STUB/tofu.rc ]] || return 0
  local at=$HOME_OF_STUB/mirror/registry.opentofu.org/hashicorp/aws/6.99.0/linux_$ARCH
  mkdir -p "$at"
  (cd "$STUB" && CGO_ENABLED=0 GOWORK=off go build -trimpath -buildvcs=false -o "$at/terraform-provider-aws_v6.99.0" .)
  cat >"$HOME_OF_STUB/tofu.rc.new" <<EOF
provider_installation {
  filesystem_mirror {
    path = "$HOME_OF_STUB/mirror"
  }
}
disable_checkpoint = true
EOF
  mv "$HOME_OF_STUB/tofu.rc.new" "$HOME_OF_STUB/tofu.rc"
}

do_install() {
  build_tofu
  build_stub
}
do_start() { :; }
do_env() {
  go_tool_path "$MODULE/cmd/tofu@$VERSION"
  stub_path
  [[ -x $TOOL && -e $HOME_OF_STUB/tofu.rc ]] || die "tofu is not installed"
  export_line "$TOOL"
  printf 'export TF_CLI_CONFIG_FILE=%q\n' "$HOME_OF_STUB/tofu.rc"
}

server_main "$@"
