#!/bin/bash
# Written by "signalbox heal init --gitlab", and yours from then on: one run of the self-healing loop in a GitLab job. The
# state comes from the artifact of the last job that saved one, and what this job leaves is the next one's.
# shellcheck disable=SC2016 # in quotes they are jq's variables
set -euo pipefail
shopt -s inherit_errexit # else what fails in $( ) would pass for an empty answer

# end MESSAGE ends the job for a reason that a person can act on.
end() {
	printf 'error: %s\n' "$@" >&2
	exit 1
}

# get PATH prints an answer of GitLab's API. The token is no argument, because other programs see those, and in a header
# that curl does not take along to another host.
get() {
	curl --silent --show-error --fail --location --retry 3 --max-time 60 --max-filesize 10485760 --header @- \
		"$CI_API_V4_URL/projects/$CI_PROJECT_ID/$1" <<<"Authorization: Bearer $SIGNALBOX_GITLAB_TOKEN"
}

# program sets the path of Signalbox.
program() {
	local what="Set SIGNALBOX in .gitlab/signalbox-heal.yml to a program on the runner or in this repository, or to a Go package with its exact version, such as example.org/signalbox/cmd/signalbox@v1.2.3"
	case ${SIGNALBOX:-} in
	"") end "SIGNALBOX is empty. $what" ;;
	*@*)
		[[ $SIGNALBOX =~ ^[A-Za-z0-9][A-Za-z0-9._~/-]*/([a-z]+)@v[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*$ ]] ||
			end "The Go package that SIGNALBOX names has no exact version. $what"
		GOBIN=$scratch go install "$SIGNALBOX" || end "The Go package that SIGNALBOX names cannot be installed. $what"
		signalbox=$scratch/${BASH_REMATCH[1]}
		;;
	*/*) signalbox=$(realpath --no-symlinks -- "$SIGNALBOX") ;;
	*) signalbox=$(command -v -- "$SIGNALBOX") || end "The runner has no program of the name that SIGNALBOX gives. $what" ;;
	esac
	if [ ! -f "$signalbox" ] || [ ! -x "$signalbox" ]; then end "What SIGNALBOX names is no program. $what"; fi
	"$signalbox" version
}

# newest prints the last job of this branch that saved a state, if there is one, as JSON. GitLab lists the newest first.
newest() {
	local page jobs found
	for page in $(seq 1 20); do
		jobs=$(get "jobs?scope[]=success&scope[]=failed&scope[]=canceled&per_page=100&page=$page")
		# A job that saved something has, or had, a file of artifacts; one that ended before has none.
		found=$(jq --compact-output --arg branch "$CI_COMMIT_BRANCH" '[.[] | select(.name == "signalbox-heal" and .ref == $branch and .tag == false
			and (.pipeline.source // "schedule" | IN("schedule", "web")) and (.artifacts_file or .artifacts_expire_at or .erased_at))][0] // empty' <<<"$jobs")
		[ -z "$found" ] || break
		[ "$(jq length <<<"$jobs")" = 100 ] || break
		[ "$page" != 20 ] || lost "None of the newest 2000 jobs of this project saved it"
	done
	echo "$found"
}

# lost WHAT: a state that was lost is no first run, because it may have waited for a person.
lost() {
	end "The state of the self-healing loop is lost: $1. Nothing was done." \
		"To begin with every total at zero: run a pipeline by hand with SIGNALBOX_HEAL = true and SIGNALBOX_PERSON = begin-anew"
}

# restore puts the state where Signalbox looks for it.
restore() {
	local found job
	if [ "${SIGNALBOX_PERSON:-}" = begin-anew ]; then
		echo "A person begins the state anew."
		return
	fi
	found=$(newest)
	if [ -z "$found" ]; then
		echo "This is the first run: there is no state yet."
		return
	fi
	job=$(jq .id <<<"$found")
	jq --exit-status '.erased_at == null' <<<"$found" >/dev/null || lost "The artifact of job $job was erased"
	jq --exit-status .artifacts_file <<<"$found" >/dev/null || lost "The artifact of job $job has expired"
	echo "The newest state is that of job $job."
	# Whole or not at all: what lies here when the job ends is the next one's state.
	local file code
	for file in state.json state.json.bak .signalbox/heal/{log,checks,totals}.json; do
		code=0
		get "jobs/$job/artifacts/$file" >"$scratch/${file##*/}" 2>/dev/null || code=$?
		case "$code $file" in
		0\ *) ;;
		22\ *.bak | 22\ .signalbox/*) rm "$scratch/${file##*/}" ;; # it need not be there
		*) end "The artifact of job $job cannot be read. Nothing was done." ;;
		esac
	done
	for file in state.json.bak .signalbox/heal/{log,checks,totals}.json state.json; do
		[ -f "$scratch/${file##*/}" ] || continue
		(umask 077 && mkdir -p "$(dirname "$file")")
		install -m 600 "$scratch/${file##*/}" "$file"
	done
}

# gate says whether a pass is due, by its exit code. That nothing is (8), or that a repair waits for its cooldown (9) or for
# a person (3), is an answer and no failure: a person was told when it began. Looks, which repair nothing, go on meanwhile.
gate() {
	local code=0 said
	"$signalbox" heal gate || code=$?
	case $code in
	0 | 8 | 9) ;;
	3)
		said=$("$signalbox" heal gate --json) || true
		! jq --exit-status .look <<<"$said" >/dev/null || code=0
		;;
	*) exit "$code" ;;
	esac
	return "$code"
}

# push puts what the pass merged on the branch, and what waits for an approval on branches of their own. If the branch has
# moved or is protected, what was merged goes to one of its own, too.
push() {
	local branch=refs/heads/$CI_COMMIT_BRANCH own=signalbox-heal/$CI_JOB_ID stage waiting
	export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null GIT_CONFIG_KEY_1="http.$CI_SERVER_URL/.extraheader"
	GIT_CONFIG_VALUE_1="Authorization: Basic $(printf 'oauth2:%s' "$SIGNALBOX_GITLAB_TOKEN" | base64 --wrap 0)"
	export GIT_CONFIG_VALUE_1
	# Nobody can approve here: who merges the branch does.
	shopt -s nullglob
	for stage in runs/*/*/stage.json; do
		waiting=$(jq --raw-output 'select(.state == "NEEDS_INPUT" and .error.reason_code == "APPROVAL_REQUIRED") | .signalbox.branch' "$stage")
		[ -n "$waiting" ] || continue
		if git push "$CI_PROJECT_URL.git" "refs/heads/$waiting:refs/heads/$own/${waiting#signalbox/}"; then
			echo "A repair waits for you. It was pushed as $own/${waiting#signalbox/}: merge it, or leave it."
		else
			echo "A repair waits for you, and could not be pushed; its patches are in this job's artifact, below runs."
		fi
	done
	if [ "$(git rev-parse "$branch")" = "$(git rev-parse "refs/remotes/origin/$CI_COMMIT_BRANCH")" ]; then
		echo "There is nothing to push to $CI_COMMIT_BRANCH."
		return
	fi
	local why="the branch moved meanwhile or is protected"
	# Signalbox itself merges no change of .gitlab without a person; which of its files is Signalbox it cannot know.
	if [[ $SIGNALBOX == */* && $SIGNALBOX != /* && $SIGNALBOX != *@* ]] &&
		! git diff --quiet "refs/remotes/origin/$CI_COMMIT_BRANCH" "$branch" -- "$SIGNALBOX" "$SIGNALBOX-docker"; then
		why="it changes the program that runs here with your keys. Look at it"
	elif git push "$CI_PROJECT_URL.git" "$branch:$branch"; then
		return
	fi
	git push "$CI_PROJECT_URL.git" "$branch:refs/heads/$own/merged"
	end "The repair is not on the branch. It was pushed as $own/merged, because $why. Merge it, or leave it: the next pass looks again"
}

[ -n "${SIGNALBOX_GITLAB_TOKEN:-}" ] ||
	end "SIGNALBOX_GITLAB_TOKEN is not set. Make a project access token with read_api and write_repository, and give it to CI as a masked and protected variable"
for needed in curl jq git realpath; do
	command -v "$needed" >/dev/null || end "The runner has no $needed"
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program
restore
if [ "${SIGNALBOX_PERSON:-}" = mended ]; then
	"$signalbox" health record healthy
fi
SIGNALBOX_PROGRAM=$signalbox bash .gitlab/signalbox-heal-issue.sh heed || echo "GitLab does not say whether a person closed the issue. For now nobody did."
gate || exit 0

# The branch as it is now, not as it was when this job was queued.
git fetch --quiet origin "+refs/heads/$CI_COMMIT_BRANCH:refs/remotes/origin/$CI_COMMIT_BRANCH"
git checkout --quiet -B "$CI_COMMIT_BRANCH" "refs/remotes/origin/$CI_COMMIT_BRANCH"
export GIT_AUTHOR_NAME=Signalbox GIT_AUTHOR_EMAIL=signalbox@localhost GIT_COMMITTER_NAME=Signalbox GIT_COMMITTER_EMAIL=signalbox@localhost
before=$(jq --raw-output .last_health_status state.json 2>/dev/null) || true
code=0
# This runs on the default branch alone, so the configuration is what its maintainers merged: it counts without a question.
(unset SIGNALBOX_GITLAB_TOKEN SIGNALBOX_GITLAB_ISSUES_TOKEN && SIGNALBOX_TRUST=1 "$signalbox" heal --unattended) || code=$?
case "$code $before" in
8\ * | 9\ * | "3 critical") code=0 ;; # nothing was due, or repaired: a person was told when it became critical
esac
bash .gitlab/signalbox-heal-issue.sh tell || { echo "The issue about the critical state could not be opened or closed." && code=1; }
push
exit "$code"
