#!/bin/bash
# Finds the run whose artifact holds the newest state of this branch. Outputs: state (restored, first-run, begun-anew),
# run (its id), renew (the artifact is so old that it must be saved again).
# shellcheck disable=SC2016 # in quotes they are jq's variables
set -euo pipefail
shopt -s inherit_errexit # else what fails in $( ) would pass for an empty answer

# output NAME VALUE
output() { echo "$1=$2" >>"$GITHUB_OUTPUT"; }

# lost WHAT: the loop stops here. A state that was lost is no first run: it may have waited for a person.
lost() {
	echo "::error title=The state of the self-healing loop is lost::$1. Nothing was done. To begin with every total at zero: start this workflow by hand with person = begin-anew"
	exit 1
}

# get PATH prints an answer of GitHub's API. The token is no argument, because other programs see those.
get() {
	curl --silent --show-error --fail-with-body --retry 3 --max-time 60 --header @- --header "Accept: application/vnd.github+json" \
		"$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$1" <<<"Authorization: Bearer $TOKEN"
}

if [ "$PERSON" = begin-anew ]; then
	echo "A person begins the state anew."
	output state begun-anew
	exit
fi
for program in curl jq; do
	command -v "$program" >/dev/null || { echo "::error::The runner has no $program, which finds the state"; exit 1; }
done

workflow=$(get "actions/runs/$GITHUB_RUN_ID" | jq .workflow_id)
declare -A ours # whether a run is one of this workflow's own, by its id

# judge RUN notes whether a run was one of this workflow for this branch, which a schedule or a person started.
judge() {
	[ -n "${ours[$1]:-}" ] || ours[$1]=$(get "actions/runs/$1" | jq --argjson workflow "$workflow" --arg branch "$GITHUB_REF_NAME" '.workflow_id == $workflow
		and .head_branch == $branch and .head_repository.id == .repository.id and (.event == "schedule" or .event == "workflow_dispatch")')
}

# newest sets found: the newest of the candidates that counts.
newest() {
	local candidate run
	while read -r candidate; do
		run=$(jq .run <<<"$candidate")
		judge "$run"
		if [ "${ours[$run]}" = true ]; then
			found=$candidate
			return
		fi
	done < <(jq --slurp --compact-output 'sort_by([.created_at, .id]) | reverse | .[]' <<<"$candidates")
}

# A fork may name a branch as this one is named, and what its pull requests run may save an artifact of this name. So may
# any other workflow here, and one that runs what a pull request brings may belong to this branch. Only what this workflow
# saved counts. GitHub lists the newest first; where a page shows that it did, what follows is older.
found="" candidates=""
for page in $(seq 1 100); do
	answer=$(get "actions/artifacts?name=signalbox-heal&per_page=100&page=$page")
	candidates+=$(jq --compact-output --arg branch "$GITHUB_REF_NAME" '.artifacts[] | select(.name == "signalbox-heal" and .workflow_run.head_branch == $branch
		and .workflow_run.head_repository_id == .workflow_run.repository_id) | {id, created_at, expired, run: .workflow_run.id}' <<<"$answer")$'\n'
	last=$(jq '(.artifacts | length) < 100' <<<"$answer")
	if [ "$last" = true ] || jq --exit-status '[.artifacts[].created_at] | . == (sort | reverse)' <<<"$answer" >/dev/null; then
		newest
	fi
	if [ "$last" = true ] || [ -n "$found" ]; then break; fi
done

if [ -z "$found" ]; then
	branch=$(jq --raw-output --null-input --arg branch "$GITHUB_REF_NAME" '$branch | @uri')
	earlier=$(get "actions/workflows/$workflow/runs?branch=$branch&status=success&per_page=1" | jq .total_count)
	# A run that succeeded saved a state, or found one.
	[ "$earlier" = 0 ] || lost "Its artifact is missing, although earlier runs saved one"
	echo "This is the first run: there is no state yet."
	output state first-run
	exit
fi
read -r run expired old < <(jq --raw-output '"\(.run) \(.expired) \(now - (.created_at | fromdate) > 2 * 24 * 3600)"' <<<"$found")
[ "$expired" = false ] || lost "Its artifact, of run $run, has expired"
echo "The newest state is that of run $run."
output state restored
output run "$run"
output renew "$old"
