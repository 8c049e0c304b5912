#!/bin/sh
# Makes what .goreleaser.yaml names, in dist/: archives, deb and rpm packages, bills of materials and checksums. The
# version is the newest tag, or 0.0.1-snapshot. The first use builds nfpm at the version below.
set -eu
cd "$(dirname "$0")/.."
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0

program=$PWD/.cache/nfpm-${nfpm##*@}/nfpm
[ -x "$program" ] || GOBIN=$(dirname "$program") go install "$nfpm"

version=$(git describe --tags --match 'v[0-9]*' 2>/dev/null || echo v0.0.1-snapshot)
version=${version#v}
date=$(git log -1 --format=%ct)
rm -rf dist
mkdir dist
go run ./scripts/manual dist/manual
for arch in amd64 arm64; do
	name=signalbox_${version}_linux_$arch
	mkdir "dist/$name"
	for command in signalbox signalbox-docker; do
		CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -buildvcs=true -trimpath \
			-ldflags "-s -w -X signalbox/internal/cli.release=v$version" -o "dist/$name/$command" "./cmd/$command"
		go run ./scripts/sbom "dist/$name/$command" "dist/${command}_${version}_linux_$arch.cdx.json"
	done
	for format in deb rpm; do
		# The part of GoReleaser's file that nfpm reads, with this build's programs.
		{
			printf 'name: signalbox\narch: %s\nversion: %s\n' "$arch" "$version"
			sed -n '/^nfpms:/,/^sboms:/{/^nfpms:/d;/^sboms:/d;/package_name:/d;/file_name_template:/d;/formats:/d;s/^    //;s/^dependencies:/depends:/;p}' .goreleaser.yaml |
				sed 's|dist-manual|dist/manual|'
			for command in signalbox signalbox-docker; do
				printf '  - {src: dist/%s/%s, dst: /usr/bin/%s}\n' "$name" "$command" "$command"
			done
		} >dist/nfpm.yaml
		SOURCE_DATE_EPOCH=$date "$program" package --config dist/nfpm.yaml --packager "$format" --target "dist/$name.$format"
	done
	cp -R LICENSE README.md CHANGELOG.md dist/manual/man dist/manual/completions "dist/$name"
	tar -C "dist/$name" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -cf - . | gzip -n >"dist/$name.tar.gz"
	rm -r "dist/$name"
done
rm -r dist/manual dist/nfpm.yaml
(cd dist && sha256sum -- * >SHA256SUMS)
ls -l dist
