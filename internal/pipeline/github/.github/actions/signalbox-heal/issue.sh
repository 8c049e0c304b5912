#!/bin/bash
# The issue that calls a person when the state is critical, and by which the person answers.
#   issue.sh heed   before the gate is asked: whoever closed it says that repairs may begin again. Output: renew
#   issue.sh tell   after a pass: one is open while the state is critical, and closed when three passes in a row found nothing
# shellcheck disable=SC2016 # in quotes they are jq's variables
set -euo pipefail
shopt -s inherit_errexit # else what fails in $( ) would pass for an empty answer

# The status, whether Signalbox itself opens and closes the issue, because a forge is in its configuration, and since when it is critical.
# A state that is missing or no JSON (2): nobody looked yet, or it is for others to say what is wrong.
known=$(jq --raw-output '(.last_health_status | tojson), ((.signalbox.request // "") | test("^[0-9]+$")),
	first(.signalbox.critical_since, .last_attempt_at, "unknown" | select(. // "" | test("^[0-9A-Za-z:.+-]+$")))' state.json 2>/dev/null) || exit $(($? == 2 ? 0 : 1))
{ read -r status && read -r itself && read -r since; } <<<"$known"
[ "$itself" = false ] || exit 0

# ask METHOD PATH prints an answer of GitHub's API to what standard input says. The token is no argument, because other
# programs see those.
ask() {
	curl --silent --show-error --fail-with-body --max-time 60 --request "$1" --data-binary @- \
		--header @<(echo "Authorization: Bearer $TOKEN") --header "Accept: application/vnd.github+json" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2"
}

# ours STATE prints this workflow's issues, the newest first. A stranger may copy the mark, and a person may change the title
# and the labels: what counts is who GitHub says opened it, and the mark at its beginning, where no error's text can be.
ours() {
	local page found
	for page in $(seq 1 10); do
		found=$(ask GET "issues?creator=github-actions%5Bbot%5D&state=$1&per_page=100&page=$page" </dev/null |
			jq --compact-output '(.[] | select(.pull_request == null and .user.login == "github-actions[bot]" and .user.type == "Bot") | {number, url: .html_url, state,
				since: (.body // "" | capture("^<!-- signalbox-heal critical since (?<since>[0-9A-Za-z:.+-]+) -->") | .since)}),
			(select(length == 100) | "more")')
		echo "${found%'"more"'}"
		[[ $found == *'"more"' ]] || break
	done
}

# the WHAT prints the number, state and address of the first of the issues on standard input of which this is true, a filter of jq's.
the() { jq --slurp --raw-output --arg since "$since" "[.[] | select($1)][0] // empty | \"\\(.number) \\(.state) \\(.url)\""; }

# closer NUMBER prints who closed it: User for a person. Programs that close what is old have not mended it.
closer() { ask GET "issues/$1" </dev/null | jq --raw-output '.closed_by.type // "nobody"'; }

# remark NUMBER writes standard input below that issue.
remark() { jq --raw-input --slurp '{body: .}' | ask POST "issues/$1/comments" >/dev/null; }

# text prints what the issue says. What an error says comes from anywhere: each of its lines is indented, which makes it text.
text() {
	jq --arg since "$since" --arg run "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID" '{
		title: "Self-healing gave up: \(.last_error_id)" | gsub("[[:cntrl:]]"; " ") | .[:200],
		labels: ["signalbox-heal"],
		body: "<!-- signalbox-heal critical since \($since) -->\nRepairs failed in \(.continuous_failure_count) passes in a row. Nothing is repaired until a person acts; looks go on.\n\n- last run: \($run)\n- errors detected: \(.total_errors_detected)\n- repairs: \(.total_fixes_succeeded) of \(.total_fixes_attempted) succeeded\n\nWhat is known of the error:\n\n\(.last_error_summary | gsub("\r"; "") | split("\n") | map("    " + .) | join("\n"))\n\nWhen it is mended, close this issue: the loop looks at once, and repairs again. Three passes in a row that find nothing close it by themselves.\n"
	}' state.json
}

heed() {
	local issue number state by word
	issue=$(ours all | the '.since == $since')
	read -r number state _ <<<"$issue"
	[ "$state" = closed ] || exit 0
	by=$(closer "$number")
	if [ "$by" != User ]; then
		echo "::warning title=Signalbox waits for you::The issue about the critical state was closed by a program. Reopen and close it yourself when it is mended"
		exit
	fi
	echo "A person closed the issue about the critical state: repairs begin again."
	word=$(cat /proc/sys/kernel/random/uuid)
	echo "::stop-commands::$word" # what is printed may come from anywhere
	"$SIGNALBOX_PROGRAM" health record rearmed
	echo "::$word::"
	echo "renew=true" >>"$GITHUB_OUTPUT"
}

call() {
	local all issue number state url by
	all=$(ours all)
	issue=$(the '.since == $since' <<<"$all")
	if [ -n "$issue" ]; then
		read -r number state url <<<"$issue"
		echo "There is an issue about it: $url"
		[ "$state" = closed ] || exit 0
		by=$(closer "$number")
		if [ "$by" != User ]; then
			ask PATCH "issues/$number" <<<'{"state": "open"}' | jq --raw-output '"Reopened it, because no person closed it: \(.html_url)"'
		fi
		exit
	fi
	issue=$(the '.state == "open"' <<<"$all")
	if [ -n "$issue" ]; then
		read -r number _ <<<"$issue"
		text | jq 'del(.labels)' | ask PATCH "issues/$number" | jq --raw-output '"An issue about an earlier time is open, and is about this one now: \(.html_url)"'
		remark "$number" <<<"It is critical again. What is written above is about this time."
		exit
	fi
	text | ask POST issues | jq --raw-output '"Opened an issue about it: \(.html_url)"'
}

dismiss() {
	local number
	ours open | jq .number | while read -r number; do
		remark "$number" <<<"Three passes in a row found nothing wrong, so this is closed."
		ask PATCH "issues/$number" <<<'{"state": "closed", "state_reason": "completed"}' | jq --raw-output '"Closed the issue about it: \(.html_url)"'
	done
}

case "$1 $status" in
'heed "critical"') heed ;;
'tell "critical"') call ;;
'tell "healthy"') [ "$(jq '.signalbox.healthy_passes >= 3' state.json)" != true ] || dismiss ;;
esac
