#!/bin/sh
# Measures how much of a run is Signalbox's own time: two runs on a Go module of the module proxy with a planted bug
# each, and the same agent and the same tests by hand, warm. Usage:
#
#   scripts/warm.sh github.com/google/uuid@v1.6.0 uuid.go
#   SIGNALBOX=./signalbox TESTS='go test ./pkg/cmd/version' scripts/warm.sh github.com/cli/cli/v2@v2.60.0 pkg/cmd/version/version.go
#
# FILE is where the bugs are planted: a line that does not compile away, and that the "agent" takes out.
set -eu
module=$1 file=$2
signalbox=$(command -v "${SIGNALBOX:-signalbox}")
tests=${TESTS:-go test ./...}
dir=$(mktemp -d)
# For root an environment's folders are mounts, which rm cannot take away.
trap '(cd "$dir/r" && "$signalbox" env remove --all --force) >/dev/null 2>&1 || true; chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
now() { date +%s.%N; }
source=$(cd "$dir" && go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
cp -R "$source" "$dir/r" && chmod -R u+w "$dir/r" && cd "$dir/r"
git init -q -b main . && git config user.name Measure && git config user.email measure@example.org
mkdir -p requests .signalbox
# A test that fails as long as the bug is there, and an agent that takes it out.
package=$(dirname "$file")
name=$(sed -n 's/^package \([a-z0-9_]*\).*/\1/p' "$file" | head -n 1)
cat >"$package/planted_test.go" <<GO
package $name

import "testing"

func TestPlanted(t *testing.T) {
	if planted != 0 {
		t.Fatal("planted")
	}
}
GO
plant() { printf '\nvar planted = %d\n' "$1" >>"$file"; git add -A; git commit -q -m "Plant bug $1"; }
cat >agent.sh <<SH
#!/bin/sh
sed -i 's/^var planted = .*/var planted = 0/' "$file"
SH
cat >.signalbox/config.yaml <<YAML
workflow: simple
approve: auto
tests: ["$tests"]
agents: {script: {driver: command, command: [sh, agent.sh]}}
YAML
for i in 1 2; do
	printf -- '---\nid: RQ-20260101-00%d\nnumber: %d\ntitle: Take planted bug %d out\n---\nMake TestPlanted pass.\n' $i $i $i >requests/$i.md
done
plant 1
for i in 1 2; do
	[ $i = 1 ] || { sed -i '/^var planted = /d' "$file"; plant $i; }
	began=$(now)
	SIGNALBOX_TRUST=1 "$signalbox" run $i >"$dir/$i.log" 2>&1 || { tail -n 20 "$dir/$i.log"; exit 1; }
	took=$(echo "$(now) - $began" | bc)
	echo "run $i: $took s"
done
grep -E 'set-up|running the tests|ci-watch|done' "$dir/2.log" || true
# What the run recorded of its tests: before, after, and of the candidate.
stage=$(find runs/RQ-20260101-002 -name stage.json)
own=$(awk '/"evidence"/ { on = 1 } on && /"duration_ms"/ { gsub(/[^0-9]/, ""); s += $0 } END { print s / 1000 }' "$stage")
echo "its tests as it ran them: $own s"
echo "run 2 / children: $(echo "scale=2; $took / $own" | bc)"
# The same by hand, warm: tests before, agent, tests after, tests of the candidate. Caches have all but the change, as
# before any change: whether the agent's result was compiled earlier decides a third of the time.
sed -i '/^var planted = /d' "$file" && printf '\nvar planted = 2\n' >>"$file"
$tests >/dev/null 2>&1 || true
sed -i '/^var planted = /d' "$file" && printf '\nvar planted = 3\n' >>"$file"
began=$(now)
$tests >/dev/null 2>&1 || true
sh agent.sh
$tests >/dev/null
middle=$(now)
$tests -count=1 >/dev/null
ended=$(now)
own=$(echo "$ended - $began" | bc)
echo "its children by hand, warm: $own s"
echo "run 2 / children: $(echo "scale=2; $took / $own" | bc)"
# A merge candidate is tested in a checkout where no agent was: the changed package is compiled there once more.
git add -A && git commit -q -m "By hand"
clean=$(now)
git worktree add -q ../clean && (cd ../clean && $tests >/dev/null)
own=$(echo "$middle - $began + $(now) - $clean" | bc)
echo "the same with the candidate in a clean checkout: $own s"
echo "run 2 / children: $(echo "scale=2; $took / $own" | bc)"
