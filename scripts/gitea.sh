#!/bin/sh
# Builds the forge that tests run against, at the versions below, and prints the folder of its programs: gitea, and
# gitea-runner, which runs its CI. It takes about 12 minutes of CPU, once for each set of versions, below GITEA_DIR, which may be
# removed at any time. Pages have no styles: what they need comes from npm and is left out. A program that cannot be built, or
# does not start, is an error. With the argument if-built, only CI builds: elsewhere it is an error if nothing is built yet.
set -eu
gitea=v1.26.0
runner=v1.0.8
home=${GITEA_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/signalbox/gitea}
bin=$home/$gitea-$runner

# lacking prints the programs that are not there.
lacking() {
	for program in gitea gitea-runner; do
		[ -x "$bin/$program" ] || echo "$program"
	done
}

if [ "${1:-}" = if-built ] && [ "${CI:-}" != true ] && [ -n "$(lacking)" ]; then
	exit 1
fi

# sources MODULE FOLDER downloads a module's sources and copies them to where they may be changed.
sources() {
	from=$(cd / && go mod download -json "$1" | jq -er .Dir) && cp -r "$from" "$2" && chmod -R u+w "$2"
}

# forge builds Gitea with the templates, translations and SQL that its sources have as files.
forge() (
	sources "code.gitea.io/gitea@$gitea" "$new/src" && cd "$new/src" || return
	for kind in public templates options migration; do
		nice go generate -tags bindata "./modules/$kind" || return
	done
	nice go build -tags 'bindata sqlite sqlite_unlock_notify' -ldflags '-s -w' -o "$new/gitea" .
)

runner() (
	sources "gitea.com/gitea/runner@$runner" "$new/runner" && cd "$new/runner" && nice go build -ldflags '-s -w' -o "$new/gitea-runner" .
)

# install builds in a folder of its own, and then puts what starts in its place.
install() {
	rm -rf "$home"/new.* # of one that was killed
	new=$(mktemp -d "$home/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	export GOFLAGS=-buildvcs=false
	runner || true
	forge || true
	rm -rf "$new/src" "$new/runner"
	for program in gitea gitea-runner; do
		HOME=$new "$new/$program" --version </dev/null || rm -f "$new/$program"
	done
	rm -rf "$bin"
	mv "$new" "$bin"
}

mkdir -p "$home"
exec 9>"$home/lock"
flock 9
[ -z "$(lacking)" ] || (install) >&2 9>&-
missing=$(lacking | tr '\n' ' ')
if [ -n "$missing" ]; then
	echo "gitea.sh: could not be built: $missing" >&2
	exit 1
fi
echo "$bin"
