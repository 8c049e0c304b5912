#!/bin/sh
# Runs golangci-lint at the version below. The first use builds it, which takes minutes.
set -eu
cd "$(dirname "$0")/.."
version=v2.15.0

program=$PWD/.cache/golangci-lint-$version/golangci-lint
if [ ! -x "$program" ]; then
	GOBIN=$(dirname "$program") go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
exec "$program" run "$@"
