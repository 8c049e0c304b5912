#!/bin/sh
# Installs what the tests need and is missing, then checks and tests everything.
# Where CI=true, what is missing is an error; elsewhere it is listed and left out.
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh

hasGo
spare
trap atEnd EXIT
trap 'exit 130' INT # which sh would not do at Ctrl-C, nor atEnd
trap 'exit 143' TERM
PATH=$PATH:/usr/sbin:/sbin # where mkfs is, also for who is not root
need git git
need bwrap bubblewrap
need jq jq
need make make
need strace strace
need git-lfs git-lfs
need mkfs.xfs xfsprogs
need dockerd docker.io
need iptables iptables
need debootstrap debootstrap
need curl curl
need tmux tmux
need npm npm
need gpg gnupg
need ssh-keygen openssh-client
need zip zip
need chromium chromium
need unzip unzip
need mvn maven
maven=/usr/share/maven-repo/org/apache/maven/plugins
needFile "$maven/maven-resources-plugin" libmaven-resources-plugin-java
needFile "$maven/maven-compiler-plugin" libmaven-compiler-plugin-java
needFile "$maven/maven-surefire-plugin" libsurefire-java
needFile /usr/share/maven-repo/junit/junit junit4
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
compiles || missing="$missing gcc libc6-dev"
install || echo "Not installed, because only root may, or because there is no apt-get:$missing. To install them: sudo apt-get install$missing"

skipped=
# skip WHAT: a person is told; CI fails.
skip() {
	skipped="$skipped
  - $1"
}
compiles || skip "the race detector: no C compiler"
isolates || skip "isolation: bubblewrap is missing or may not make a sandbox; the tests that need it fail"
for program in git git-lfs jq; do
	command -v "$program" >/dev/null 2>&1 || skip "$program is missing; the tests that need it fail"
done
for program in strace mkfs.xfs; do
	command -v "$program" >/dev/null 2>&1 || skip "the sweeps of the store's updates that need $program, which is missing"
done
command -v chromium >/dev/null 2>&1 || skip "the pages in a browser: chromium is missing"
for program in curl npm mvn python3; do
	command -v "$program" >/dev/null 2>&1 || skip "set-ups with $program: it is missing"
done
# 1.4 GB, once: the agents as people install them, at the versions whose output is recorded.
if SIGNALBOX_AGENTS=$(sh scripts/agents.sh); then
	export SIGNALBOX_AGENTS
else
	skip "the tests with real agents: they could not all be installed"
fi
# 320 MB, once: what runs and judges CI files, a GitHub by others, and the inspector of MCP servers.
if SIGNALBOX_RUNNERS=$(sh scripts/runners.sh); then
	export SIGNALBOX_RUNNERS
else
	skip "the tests of CI files with their runners, with an emulator of GitHub, and with the inspector of MCP servers: not all could be installed"
fi
# 1 MB, once: what judges pages by how people read them who can't see them.
if SIGNALBOX_AXE=$(sh scripts/axe.sh); then
	export SIGNALBOX_AXE
else
	skip "the judgement of pages for people who can't see them: axe-core could not be installed"
fi
# 12 minutes of CPU, once: a forge with CI. People who want it run scripts/gitea.sh first.
if SIGNALBOX_GITEA=$(sh scripts/gitea.sh if-built); then
	export SIGNALBOX_GITEA
else
	skip "the tests with a real forge: it is not built; to build it: sh scripts/gitea.sh"
fi
(cd / && go mod download github.com/fatih/color@v1.19.0) >/dev/null 2>&1 ||
	skip "the run on a module that people use: the module proxy cannot be reached"
hasDocker || skip "the tests with containers: no Docker daemon answers, and none can be started"
command -v debootstrap >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || docker image inspect signalbox-test:bookworm >/dev/null 2>&1 ||
	skip "the tests with containers: their image is made by debootstrap, as root"
lacking=$skipped
limitsMemory || skip "the test of a program that runs out of memory: no control group may be made here"
if [ "$(id -u)" != 0 ]; then
	skip "the sweeps of the store's updates (kill, errno, power cut): only root may"
elif ! mountsLoops; then
	skip "the power cuts of a disk in a file: none may be mounted through a loop device here"
fi
[ -z "$skipped" ] || echo "Left out:$skipped"
if [ -n "$lacking" ] && [ "${CI:-}" = true ]; then
	echo "In CI nothing may be missing."
	exit 1
fi

unformatted=$(gofmt -l cmd internal)
if [ -n "$unformatted" ]; then
	printf 'Not formatted, run gofmt -w:\n%s\n' "$unformatted"
	exit 1
fi
CGO_ENABLED=0 go vet ./...
GOOS=darwin go vet ./cmd/... # which refuses there, in words
inMemory
# By xargs, because a shell's background jobs, and the programs that they start, would ignore Ctrl-C.
printf '%s\n' plain raced live | xargs -n 1 -P 3 sh scripts/suite.sh
