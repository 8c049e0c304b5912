#!/bin/bash
# One pass of the repair layer, in a folder that is thrown away. That a state is still critical (3) is no failure: a person
# was told when it became so.
set -euo pipefail

export GIT_AUTHOR_NAME=Signalbox GIT_AUTHOR_EMAIL=signalbox@localhost GIT_COMMITTER_NAME=Signalbox GIT_COMMITTER_EMAIL=signalbox@localhost
# What is printed may come from anywhere: the runner is to take none of it for a command.
word=$(cat /proc/sys/kernel/random/uuid)
echo "::stop-commands::$word"
before=$(jq --raw-output .last_health_status state.json 2>/dev/null || true)
code=0
# This runs on the default branch alone, so the configuration is what its maintainers merged: it counts without a question.
SIGNALBOX_TRUST=1 "$SIGNALBOX_PROGRAM" heal --unattended || code=$?
echo "::$word::"
case "$code $before" in
8\ * | 9\ * | "3 critical") code=0 ;; # nothing was due, or repaired
esac
exit "$code"
