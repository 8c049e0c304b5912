#!/bin/sh
# Shows what no stand-in can: Signalbox on a real GitHub, GitLab, Gitea or Forgejo. It carries an issue to a merged pull request with a script as the
# agent, kills a run in the middle, and prints what it looked at, each with ok or failed.
#
#     GITHUB_TOKEN=… sh scripts/forge-live.sh --throw-away https://github.com/you/throw-away
#     GITLAB_TOKEN=… sh scripts/forge-live.sh --throw-away https://gitlab.com/you/throw-away gitlab
#     GITEA_TOKEN=…  sh scripts/forge-live.sh --throw-away https://codeberg.org/you/throw-away gitea
#
# The repository must have at least one commit and no protection of its default branch. Afterwards that branch has a few commits more, and the
# repository two closed issues and pull requests; branches and labels of the test are removed. The token needs the rights that docs/forges.md lists.
# Set SIGNALBOX to the program to test; without it, the present checkout is built. KEEP=1 keeps the clone and the logs.
set -eu
usage() {
	sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
[ "${1:-}" = --throw-away ] && [ -n "${2:-}" ] || usage
page=${2%/} && page=${page%.git}
case $page in
http://*/*/* | https://*/*/*) ;;
*) usage ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
scheme=${page%%://*} rest=${page#*://}
host=${rest%%/*} path=${rest#*/}
server=${SERVER:-$scheme://$host} # a server below a path: SERVER=https://example.com/gitlab
path=${page#"$server/"}
kind=${3:-}
case $kind:$host in
:github.com) kind=github ;;
:gitlab.com) kind=gitlab ;;
:codeberg.org | :*gitea*) kind=gitea ;;
esac
case $kind in
github)
	variable=GITHUB_TOKEN api=$server/api/v3/repos/$path
	[ "$host" != github.com ] || api=https://api.github.com/repos/$path
	[ "$host" = github.com ] || variable=GITHUB_ENTERPRISE_TOKEN
	pulls=pulls header='Authorization: Bearer' head=.head.ref number=.number size=per_page
	;;
gitlab)
	variable=GITLAB_TOKEN api=$server/api/v4/projects/$(printf %s "$path" | sed 's,/,%2F,g')
	pulls=merge_requests header='PRIVATE-TOKEN:' head=.source_branch number=.iid size=per_page
	;;
gitea)
	variable=GITEA_TOKEN api=$server/api/v1/repos/$path
	pulls=pulls header='Authorization: token' head=.head.label number=.number size=limit
	;;
*) echo "forge-live.sh: say what $host is: github, gitlab or gitea" >&2 && exit 2 ;;
esac
eval "FORGE_LIVE_TOKEN=\${$variable:-}"
export FORGE_LIVE_TOKEN
[ -n "$FORGE_LIVE_TOKEN" ] || { echo "forge-live.sh: set $variable to a token for $host" >&2 && exit 2; }
for program in git curl jq; do
	command -v "$program" >/dev/null || { echo "forge-live.sh: install $program first" >&2 && exit 2; }
done

work=$(mktemp -d)
end() {
	[ -z "${run:-}" ] || kill "$run" 2>/dev/null || true
	tidy
	[ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

# ask METHOD PATH [JSON] calls the API. The token is in no argument.
ask() {
	method=$1 where=$2
	shift 2
	printf 'header = "%s %s"\n' "$header" "$FORGE_LIVE_TOKEN" |
		curl --silent --show-error --fail-with-body --max-time 60 -K - -X "$method" -H 'Content-Type: application/json' ${1:+--data "$1"} "$api$where"
}

failed=0
# check WHAT COMMAND... prints whether the command succeeds.
check() {
	what=$1
	shift
	if "$@" >"$work/check.log" 2>&1; then
		echo "ok      $what"
	else
		echo "failed  $what"
		sed 's/^/        /' "$work/check.log" | tail -n 15
		failed=$((failed + 1))
	fi
}

# tidy removes what is left of the test on the server.
tidy() {
	[ -d "$work/clone" ] || return 0
	for n in ${issues:-}; do
		case $kind in
		gitlab) ask PUT "/issues/$n" '{"state_event":"close"}' ;;
		*) ask PATCH "/issues/$n" '{"state":"closed"}' ;;
		esac >/dev/null 2>&1 || true
		for branch in $(git -C "$work/clone" ls-remote --heads origin "refs/heads/signalbox/$n-forge-live*" 2>/dev/null | sed 's,.*refs/heads/,,'); do
			git -C "$work/clone" push --quiet origin ":refs/heads/$branch" 2>/dev/null || true
		done
	done
}

if [ -z "${SIGNALBOX:-}" ]; then
	SIGNALBOX=$work/bin/signalbox
	(cd "$root" && CGO_ENABLED=0 go build -o "$work/bin/" ./cmd/...)
fi

# git asks this helper, which is the user's own here: the token is in no address and no argument.
mkdir "$work/home"
(umask 077 && printf %s "$FORGE_LIVE_TOKEN" >"$work/home/token")
export HOME="$work/home" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
git config --global user.name 'Forge Live'
git config --global user.email forge-live@example.org
git config --global credential.helper '!f() { test "$1" = get && echo username=oauth2 && echo "password=$(cat "$HOME/token")"; }; f'
git clone --quiet "$page.git" "$work/clone"
cd "$work/clone"
base=$(git branch --show-current)
git rev-parse --quiet --verify HEAD >/dev/null || { echo "forge-live.sh: $page has no commit" >&2 && exit 2; }

mkdir .signalbox
statuses=true
[ "$kind" != gitlab ] || statuses=false
cat >.signalbox/config.yaml <<CONFIG
forge: {driver: $kind, url: $server, repository: $path, token: $variable, ci: none, labels: true, statuses: $statuses}
workflow: simple
approve: auto
push: auto
tests: ["git diff --check HEAD"]
environment: {sandbox: none}
roles: {planner: none, reviewer: none, repairer: none}
agents: {script: {driver: command, command: [sh, -c, "cat >/dev/null; echo works >forge-live-\$(date +%s)-\$\$.txt"]}}
CONFIG
printf '.signalbox/\n.worktrees/\nruns/\nenvironments.json\n' >>.git/info/exclude
export SIGNALBOX_TRUST=1

# opened makes an issue and prints its number.
opened() {
	text=body
	[ "$kind" != gitlab ] || text=description
	ask POST /issues "{\"title\":\"forge-live: $1\",\"$text\":\"A test of Signalbox. It closes itself.\"}" | jq -er "$number"
}
# pullsOf N prints how many pull requests the branch of an issue has.
pullsOf() {
	ask GET "/$pulls?state=all&$size=50" | jq "[.[] | select($head | startswith(\"signalbox/$1-\"))] | length"
}
one() { [ "$(pullsOf "$1")" = 1 ]; }
closed() { ask GET "/issues/$1" | jq -e '.state == "closed"'; }
comments() { # on an issue, of ours
	case $kind in gitlab) notes=notes ;; *) notes=comments ;; esac
	ask GET "/issues/$1/$notes?$size=50" | jq "[.[] | select(.body | startswith(\"<!-- signalbox:comment=signalbox%2Fprogress\"))] | length"
}
commented() { [ "$(comments "$1")" = 1 ]; }
labelled() { ask GET "/issues/$1" | jq -e '[.labels[] | .name? // .] | index("signalbox:done")'; }
files() { git fetch --quiet origin && git ls-tree --name-only "origin/$base" | grep -c '^forge-live-' || true; }
landed() { [ "$(files)" = "$1" ] && [ "$(git rev-parse "$base")" = "$(git rev-parse "origin/$base")" ]; }
gone() { [ -z "$(git ls-remote --heads origin "refs/heads/signalbox/$1-*")" ]; }
done_() { [ "$("$SIGNALBOX" status "$1" --json | jq -r .state)" = DONE ]; }
carried() { # what is true at the end of every run
	check "run $1 is done" done_ "$1"
	check "issue $1 has one pull request" one "$1"
	check "issue $1 is closed" closed "$1"
	check "issue $1 has one progress comment" commented "$1"
	check "issue $1 has the label signalbox:done" labelled "$1"
	check "the branch of issue $1 is deleted" gone "$1"
	check "the default branch has the change of issue $1 once" landed "$2"
}

echo "$page by $kind, with $("$SIGNALBOX" --version)"
check "doctor finds nothing missing" "$SIGNALBOX" doctor
before=$(files)
issues=$(opened 'one run')
first=$issues
check "issue $first is run to its end" "$SIGNALBOX" run "$first"
carried "$first" $((before + 1))
check "another run of it does nothing" "$SIGNALBOX" run "$first"
check "it still has one pull request" one "$first"

second=$(opened 'a run that is killed')
issues="$issues $second"
"$SIGNALBOX" run "$second" >"$work/killed.log" 2>&1 &
run=$!
tries=0
until one "$second" 2>/dev/null || [ "$tries" -ge 120 ] || ! kill -0 "$run" 2>/dev/null; do
	tries=$((tries + 1))
	sleep 0.5 # a person who watches the page does the same
done
kill -9 "$run" 2>/dev/null || true
wait "$run" 2>/dev/null || true
run=
check "issue $second goes on after kill -9" "$SIGNALBOX" run "$second"
carried "$second" $((before + 2))
check "no token is in any file of the project" sh -c '! grep -rqF "$FORGE_LIVE_TOKEN" .'

if [ "$failed" -gt 0 ]; then
	echo "$failed failed"
	exit 1
fi
echo "all ok"
