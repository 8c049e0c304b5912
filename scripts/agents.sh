#!/bin/sh
# Installs the agents that Signalbox is tested with, at the versions of scripts/agents, and prints the folder of
# their programs. A Node that they run on is among them: a system's may be too old, and only has to install them.
# Each set of versions is installed once, below AGENTS_DIR, which may be removed at any time.
# An agent that cannot be installed, or does not start, is named; where CI=true that is an error.
set -eu
here=$(cd "$(dirname "$0")/agents" && pwd)
home=${AGENTS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/signalbox/agents}
set -- claude codex opencode pi gemini

for program in node npm; do
	if ! command -v "$program" >/dev/null 2>&1; then
		echo "agents.sh: $program is missing, and the agents come from npm" >&2
		exit 1
	fi
done
version=$(cat "$here/package.json" "$here/package-lock.json" | sha256sum | cut -c1-16)
installed=$home/$version
bin=$installed/node_modules/.bin

# lacking prints the programs that are not there.
lacking() {
	for agent in "$@"; do
		[ -x "$bin/$agent" ] || echo "$agent"
	done
}

# install puts the agents into a folder of their own, and then in its place what starts of them.
install() {
	rm -rf "$home"/new.* # of one that was killed
	new=$(mktemp -d "$home/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	cp "$here/package.json" "$here/package-lock.json" "$new"
	cd "$new"
	# Not "npm ci", which refuses a lock file that lacks the packages of other systems. No scripts run but the
	# two without which Claude Code and opencode do not find their own programs.
	npm install --ignore-scripts --no-audit --no-fund || true
	npm rebuild @anthropic-ai/claude-code opencode-ai || true
	for node in node_modules/node-linux-*/bin/node; do # which npm 9 leaves out
		[ ! -x "$node" ] || ln -sf "../../$node" node_modules/.bin/node
	done
	for agent in "$@"; do
		HOME=$new PATH=$new/node_modules/.bin:$PATH "node_modules/.bin/$agent" --version </dev/null || rm -f "node_modules/.bin/$agent"
	done
	rm -rf "$installed"
	mv "$new" "$installed"
}

mkdir -p "$home"
exec 9>"$home/lock"
flock 9
[ -z "$(lacking "$@")" ] || (install "$@") >&2 9>&-
missing=$(lacking "$@" | tr '\n' ' ')
if [ -n "$missing" ]; then
	echo "agents.sh: could not be installed: $missing" >&2
	[ "${CI:-}" != true ] || exit 1
fi
echo "$bin"
