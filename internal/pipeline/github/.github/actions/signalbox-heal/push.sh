#!/bin/bash
# Pushes what the pass merged into the branch, and what waits for an approval to branches of their own. If the branch has
# moved or is protected, what was merged goes to one of its own, too.
set -euo pipefail

# The token is no argument, because other programs see those.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1="http.$GITHUB_SERVER_URL/.extraheader"
GIT_CONFIG_VALUE_1="Authorization: Basic $(printf 'x-access-token:%s' "$TOKEN" | base64 --wrap 0)"
export GIT_CONFIG_VALUE_1
branch=refs/heads/$GITHUB_REF_NAME
own=signalbox-heal/$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT

# Nobody can approve here: who merges the branch does.
shopt -s nullglob
for stage in runs/*/*/stage.json; do
	waiting=$(jq --raw-output 'select(.state == "NEEDS_INPUT" and .error.reason_code == "APPROVAL_REQUIRED") | .signalbox.branch' "$stage")
	[ -n "$waiting" ] || continue
	kept=$own/${waiting#signalbox/}
	if git push origin "refs/heads/$waiting:refs/heads/$kept"; then
		echo "::warning title=A repair waits for you::It was pushed as $kept. Merge it, or leave it"
	else
		echo "::error title=A repair waits for you::It could not be pushed; its patches are in the artifact signalbox-heal-runs"
	fi
done
if [ "$(git rev-parse "$branch")" = "$(git rev-parse "refs/remotes/origin/$GITHUB_REF_NAME")" ]; then
	echo "There is nothing to push to $GITHUB_REF_NAME."
	exit
fi
# Signalbox itself merges no change of .github without a person; which of its files is Signalbox it cannot know.
if [[ $SIGNALBOX == */* && $SIGNALBOX != /* && $SIGNALBOX != *@* ]] &&
	! git diff --quiet "refs/remotes/origin/$GITHUB_REF_NAME" "$branch" -- "$SIGNALBOX" "$SIGNALBOX-docker"; then
	why="it changes the program that runs here with your keys. Look at it"
elif git push origin "$branch:$branch"; then
	exit
else
	why="the branch moved meanwhile or is protected"
fi
git push origin "$branch:refs/heads/$own/merged"
echo "::error title=The repair is not on the branch::It was pushed as $own/merged, because $why. Merge it, or leave it: the next pass looks again"
exit 1
