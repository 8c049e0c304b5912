#!/bin/bash
# One pass of the repair layer, in a folder that is thrown away.
set -euo pipefail

export GIT_AUTHOR_NAME=Signalbox GIT_AUTHOR_EMAIL=signalbox@localhost GIT_COMMITTER_NAME=Signalbox GIT_COMMITTER_EMAIL=signalbox@localhost
# What is printed may come from anywhere: the runner is to take none of it for a command.
word=$(cat /proc/sys/kernel/random/uuid)
echo "::stop-commands::$word"
code=0
"$SIGNALBOX_PROGRAM" heal --unattended || code=$?
echo "::$word::"
case $code in
8 | 9) code=0 ;; # nothing was due
esac
exit "$code"
