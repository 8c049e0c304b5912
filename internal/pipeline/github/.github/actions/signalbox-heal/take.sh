#!/bin/bash
# Puts the state, and what is remembered beside it, where Signalbox looks for it. Output: renew, where a person changed it.
set -euo pipefail

refuse() {
	echo "::error title=The artifact cannot be used::$1. Nothing was done. If it stays like this: start this workflow by hand with person = begin-anew, and every total begins at zero"
	exit 1
}

if [ -n "$RUN" ]; then
	[ "$DOWNLOAD" = success ] || refuse "The artifact of run $RUN cannot be read"
	[ -e "$FROM/state.json" ] || refuse "The artifact of run $RUN holds no state.json"
	for file in state.json state.json.bak .signalbox/heal/{log,checks,totals}.json; do
		[ -e "$FROM/$file" ] || [ -L "$FROM/$file" ] || continue
		# It is data: a file, and of the size of one. What is in it Signalbox judges.
		if [ ! -f "$FROM/$file" ] || [ -L "$FROM/$file" ] || [ "$(stat --format %s "$FROM/$file")" -gt 16777216 ]; then
			refuse "$file of run $RUN is no document"
		fi
		(umask 077 && mkdir -p "$(dirname "$file")")
		install -m 600 "$FROM/$file" "$file"
	done
	rm -rf "$FROM"
fi
if [ "$PERSON" = mended ]; then
	"$SIGNALBOX_PROGRAM" health record healthy
	echo "renew=true" >>"$GITHUB_OUTPUT"
fi
