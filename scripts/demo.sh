#!/bin/sh
# Builds Signalbox and carries the request of a small new repository to a merged change.
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh

hasGo
need git git
need bwrap bubblewrap
install || echo "Not installed, for lack of rights or of apt-get:$missing. To have it: sudo apt-get install$missing"

CGO_ENABLED=0 go build -o bin/signalbox ./cmd/signalbox
if isolates; then
	exec bin/signalbox demo "$@"
fi
echo "bubblewrap is missing or may not make a sandbox here: the demonstration's commands run without isolation."
exec bin/signalbox demo --unsandboxed "$@"
