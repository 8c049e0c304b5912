#!/bin/sh
# Takes the pictures in docs/images: our pages, and pages of a real Gitea in the story that the tests tell, seen by Chromium. Needs chromium and npm. Gitea's
# styles, which scripts/gitea.sh leaves out, are built once: 350 MB from npm, and 20 s of CPU.
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh

hasGo
need chromium chromium
need npm npm
need jq jq
install || { echo "Install these first:$missing"; exit 1; }

bin=$(sh scripts/gitea.sh)

# styles builds what a browser loads besides pages, with the versions of Node and pnpm that it wants.
styles() (
	new=$(mktemp -d)
	trap 'rm -rf "$new"' EXIT
	version=$(sed -n 's/^gitea=//p' scripts/gitea.sh)
	cd "$new"
	from=$(cd / && go mod download -json "code.gitea.io/gitea@$version" | jq -er .Dir)
	cp -r "$from" src && chmod -R u+w src
	for package in "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@22.23.3" pnpm@10.33.0; do
		name=${package%%[-@]*}
		mkdir "$name"
		npm pack --silent --pack-destination "$name" "$package"
		tar -xzf "$name"/*.tgz -C "$name" --strip-components 1
	done
	export HOME="$new" PATH="$new/node/bin:$PATH" NODE_ENV=production ENABLE_SOURCEMAP=false
	cd src
	node ../pnpm/bin/pnpm.cjs install --frozen-lockfile --prod --ignore-scripts
	node node_modules/vite/bin/vite.js build --logLevel warn
	mv public/assets "$bin/assets"
)
[ -d "$bin/assets" ] || styles >&2

mkdir -p docs/images
SIGNALBOX_GITEA=$bin CGO_ENABLED=0 go test -count=1 -run TestAnIssueOfARealGitea ./internal/cli -pictures "$PWD/docs/images"
CGO_ENABLED=0 go test -count=1 -run TestPictures ./internal/web -pictures "$PWD/docs/images"
