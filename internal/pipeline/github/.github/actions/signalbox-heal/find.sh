#!/bin/bash
# Finds the run whose artifact holds the newest state of this branch. Outputs: state (restored, first-run, begun-anew),
# run (its id), renew (the artifact is so old that it must be saved again).
set -euo pipefail

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

# A fork may name a branch as this one is named, and what its pull requests run may save an artifact of this name: only
# what this repository's own branch saved counts. GitHub lists the newest first; where a page shows that it did, what
# follows is older.
newest='[.artifacts[] | select(.name == "signalbox-heal" and .workflow_run.head_branch == $branch
	and .workflow_run.head_repository_id == .workflow_run.repository_id)] | max_by([.created_at, .id])'
found=null
for page in $(seq 1 100); do
	answer=$(get "actions/artifacts?name=signalbox-heal&per_page=100&page=$page")
	found=$(jq --compact-output --arg branch "$GITHUB_REF_NAME" --argjson found "$found" "$newest as \$here | [\$found, \$here | select(.)] | max_by([.created_at, .id])" <<<"$answer")
	jq --exit-status --argjson found "$found" '(.artifacts | length) < 100 or ($found and ([.artifacts[].created_at] | . == (sort | reverse)))' <<<"$answer" >/dev/null && break
done

if [ "$found" = null ]; then
	workflow=$(get "actions/runs/$GITHUB_RUN_ID" | jq .workflow_id)
	branch=$(jq --raw-output --null-input --arg branch "$GITHUB_REF_NAME" '$branch | @uri')
	earlier=$(get "actions/workflows/$workflow/runs?branch=$branch&status=success&per_page=1" | jq .total_count)
	# A run that succeeded saved a state, or found one.
	[ "$earlier" = 0 ] || lost "Its artifact is missing, although earlier runs saved one"
	echo "This is the first run: there is no state yet."
	output state first-run
	exit
fi
read -r run expired old < <(jq --raw-output '"\(.workflow_run.id) \(.expired) \(now - (.created_at | fromdate) > 2 * 24 * 3600)"' <<<"$found")
[[ $run =~ ^[0-9]+$ ]] || { echo "::error::GitHub answers with an artifact that no run saved"; exit 1; }
[ "$expired" = false ] || lost "Its artifact, of run $run, has expired"
echo "The newest state is that of run $run."
output state restored
output run "$run"
output renew "$old"
