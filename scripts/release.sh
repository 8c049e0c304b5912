#!/bin/sh
# Makes what .goreleaser.yaml names in dist/, of the commit that is checked out: archives, deb and rpm packages, bills of
# materials and checksums. Nothing is published. The first use builds GoReleaser, which takes minutes.
set -eu
cd "$(dirname "$0")/.."
version=v2.7.0

program=$PWD/.cache/goreleaser-$version/goreleaser
if [ ! -x "$program" ]; then
	GOBIN=$(dirname "$program") go install "github.com/goreleaser/goreleaser/v2@$version"
fi
exec "$program" release --snapshot --clean
