#!/bin/sh
# Installs axe-core, which judges pages in tests by how people read them who can't see them, and prints its folder. Each version is
# installed once, below AXE_DIR, which may be removed at any time.
set -eu
version=4.11.0
home=${AXE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/signalbox/axe}
bin=$home/$version
if [ ! -e "$bin/axe.min.js" ]; then
	mkdir -p "$home"
	new=$(mktemp -d "$home/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	{ (cd "$new" && npm pack --silent "axe-core@$version") && tar -xzf "$new"/*.tgz -C "$new" --strip-components 1 && rm "$new"/*.tgz; } >&2
	rm -rf "$bin"
	mv "$new" "$bin"
fi
echo "$bin"
