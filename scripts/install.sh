# shellcheck shell=sh
# Read in by the scripts beside it: finds out what is missing here and installs the packages that have it.
missing=

# need PROGRAM PACKAGE: remembers the package unless the program is there.
need() {
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

# needFile FILE PACKAGE: likewise, unless the file is there.
needFile() {
	[ -e "$1" ] || missing="$missing $2"
}

# compiles says whether C programs can be built, which the race detector needs.
compiles() {
	echo 'int main(void) { return 0; }' | "$(go env CC)" -x c -o /dev/null - >/dev/null 2>&1
}

# install installs what need remembered. It fails where it may not or cannot.
install() {
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null 2>&1 || return 1
	root=
	if [ "$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null || return 1
		root='sudo -n'
	fi
	echo "Installing:$missing"
	# shellcheck disable=SC2086 # both are lists of words
	$root env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@" >/dev/null' install $missing
}

# isolates says whether bubblewrap is there and allowed to make a sandbox.
isolates() {
	bwrap --unshare-pid --ro-bind / / --proc /proc --dev /dev true >/dev/null 2>&1
}

# limitsMemory says whether a control group with a memory limit could be made, which no package gives.
limitsMemory() {
	for group in "/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)" "$(sed -n 's/^0:://p' /proc/self/cgroup)"; do
		[ -w "/sys/fs/cgroup$group" ] && [ -e "/sys/fs/cgroup$group/cgroup.procs" ] && return
	done
	return 1
}

# mountsLoops says whether a file system in a file could be mounted, which no package gives.
mountsLoops() {
	scratch=$(mktemp -d)
	truncate -s 300M "$scratch/image" && mkfs.xfs -q "$scratch/image" && mount -o loop "$scratch/image" "$scratch" && umount "$scratch"
	mounts=$?
	rm -rf "$scratch"
	return $mounts
} >/dev/null 2>&1

# spare makes the tests cost less. In PATH it leaves the folders of Go and of the system, if these have what the tests use: any
# other is one mount or more for each sandbox, and a shim in it is a shell for each start. And what one checkout compiled serves
# the next, wherever that lies.
spare() {
	export GOFLAGS="-trimpath ${GOFLAGS:-}"

	lean=$(dirname "$(command -v go)"):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	for program in bwrap cc curl docker git git-lfs gpg jq make mkfs.xfs mvn node npm python3 ssh-keygen strace tmux unzip zip; do
		! command -v "$program" >/dev/null 2>&1 || PATH=$lean command -v "$program" >/dev/null 2>&1 || lean=$PATH
	done
	export PATH="$lean"
}

# inMemory gives the tests' files a place in memory, if root can mount one and there is plenty. Most of these files live for a
# second, and making and removing them on a disk takes a sixth of all the time. What has to survive a power cut is tested on
# file systems of its own. Overlays without root need a kernel whose tmpfs has user attributes.
inMemory() {
	[ "$(id -u)" = 0 ] && [ "$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)" -ge 12 ] || return 0
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || return 0
	scratch=$(mktemp -d /tmp/sb.XXXXXX)
	if mount -t tmpfs -o size=8g,mode=1777 tmpfs "$scratch" 2>/dev/null; then
		export TMPDIR="$scratch"
	else
		rmdir "$scratch"
		scratch=
	fi
}

# atEnd ends what the script started.
atEnd() {
	[ -z "${daemon:-}" ] || { kill "$daemon" && wait "$daemon" || true; }
	[ -z "${scratch:-}" ] || { umount -R -l "$scratch" && rmdir "$scratch"; }
}

# hasDocker says whether a Docker daemon answers. Where there is none, root starts one of the tests' own, which ends with
# the script; it works without a bridge where the packet filter is not to be had.
hasDocker() {
	docker version >/dev/null 2>&1 && return
	[ "$(id -u)" = 0 ] && command -v dockerd >/dev/null 2>&1 || return 1
	DOCKER_HOST=unix:///run/signalbox-tests/docker.sock
	export DOCKER_HOST
	docker version >/dev/null 2>&1 && return
	mkdir -p /run/signalbox-tests
	for further in "" "--iptables=false"; do
		# shellcheck disable=SC2086 # empty means no word
		dockerd --data-root /var/lib/signalbox-tests --exec-root /run/signalbox-tests/exec --pidfile /run/signalbox-tests/pid \
			--host "$DOCKER_HOST" $further >/run/signalbox-tests/log 2>&1 &
		daemon=$!
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			docker version >/dev/null 2>&1 && return
			kill -0 "$daemon" 2>/dev/null || break
			sleep 1
		done
		kill "$daemon" 2>/dev/null
		wait "$daemon" || true
		daemon=
	done
	unset DOCKER_HOST
	return 1
}

# hasGo ends the script where there is no Go: which one to install is the person's choice.
hasGo() {
	PATH=$PATH:/usr/local/go/bin
	command -v go >/dev/null 2>&1 && return
	echo "Go is missing: install it from https://go.dev/dl and put it into PATH." >&2
	exit 1
}
