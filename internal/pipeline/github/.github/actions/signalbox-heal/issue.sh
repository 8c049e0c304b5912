#!/bin/bash
# Opens an issue about a critical state, once for each time that it became critical: who asks again finds it by its mark.
set -euo pipefail

[ "$(jq --raw-output .last_health_status state.json)" = critical ] || exit 0

# ask METHOD PATH prints an answer of GitHub's API to what standard input says. The token is no argument, because other
# programs see those.
ask() {
	curl --silent --show-error --fail-with-body --max-time 60 --request "$1" --data-binary @- \
		--header @<(echo "Authorization: Bearer $TOKEN") --header "Accept: application/vnd.github+json" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2"
}

mark=$(jq --raw-output '"<!-- signalbox-heal critical since \(.signalbox.critical_since // .updated_at | gsub("[^0-9A-Za-z:.+-]"; "")) -->"' state.json)
known=$(ask GET "issues?labels=signalbox-heal&state=all&per_page=100" </dev/null |
	jq --raw-output --arg mark "$mark" '[.[] | select(.body // "" | contains($mark)) | .html_url][0] // empty')
if [ -n "$known" ]; then
	echo "There is an issue about it: $known"
	exit
fi
# What an error says comes from anywhere: each of its lines is indented, which makes it text.
jq --arg mark "$mark" --arg run "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID" '{
	title: "Self-healing gave up: \(.last_error_id)" | gsub("[[:cntrl:]]"; " ") | .[:200],
	labels: ["signalbox-heal"],
	body: "\(.continuous_failure_count) repairs in a row failed. The loop stands still until a person acts.\n\n- last run: \($run)\n- errors detected: \(.total_errors_detected)\n- repairs: \(.total_fixes_succeeded) of \(.total_fixes_attempted) succeeded\n\nWhat is known of the error:\n\n\(.last_error_summary | gsub("\r"; "") | split("\n") | map("    " + .) | join("\n"))\n\nWhen it is mended: start the workflow by hand with person = mended.\n\n\($mark)"
}' state.json | ask POST issues | jq --raw-output '"Opened an issue about it: \(.html_url)"'
