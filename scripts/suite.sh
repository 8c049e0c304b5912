#!/bin/sh
# Runs one part of the tests: plain, raced or live. scripts/test.sh runs the three at the same time. "fast" is what a
# contributor runs while working: nothing is downloaded, and what waits or kills on purpose is left out.
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh
spare

# These packages spend their time in child processes that share no memory. The race detector finds little there and costs
# up to ten times the time.
plain='./internal/cli ./internal/environment/clone'
# Of them, these tests share memory between goroutines: whatever watches, waits, asks or holds a session, the proxy of an
# environment's network, and the parallel copying of what an environment keeps.
shared='TestScripts/(answers|followed|heal-unattended|notifications|questions|sessions|watch)'
shared="$shared|TestATerminal|TestAtATerminal|TestHealWatch|TestARunningPass|TestWatch|TestGate"
shared="$shared|TestNetworkConformance|TestOnlyOneCommandAtATime|TestConformance/HOME_kept|TestASecondSignalbox"
# In these nothing runs beside anything: they judge, read or write texts, or walk every state of a run.
alone=$(cd internal && go list . ./agent/jsonrpc ./agent/pending ./app/cost ./app/healing ./app/history ./commandline ./config ./environment/detect \
	./forge/joblog ./health/... ./language ./mcp/clients ./owners ./permission ./pipeline ./registry ./schema ./wire/folder ./workflow/...)
# Here too, of packages where the race detector watches another test go the same way: thousands of histories, and of calls, one after the other, and
# runs on a forge that fails in thirty ways.
repeated='TestWhateverBecomesOfWebhooksTheEndIsTheSame|TestAnHourOfFiftyRuns|TestWhateverAForgeDoesTheRunSaysWhatToType|TestARunSurvivesEveryLostAnswer|TestARunOnARealGitea'
# The longest come first, so that no core is idle at the end.
longest='./internal/environment/container ./internal/store ./internal/forge/local ./internal/session ./internal/git'
agents='./internal/agent/claude ./internal/agent/codex ./internal/agent/opencode ./internal/agent/pi ./internal/agent/gemini'

# without PACKAGES prints all other packages.
without() {
	# shellcheck disable=SC2086 # a list of words
	go list ./... | grep -v -x -F -e "$(go list $1)"
}

race=-race
compiles || race=

# As it is shipped: what the tests compile serves the program that they build, and starts faster. The race detector needs libc.
export CGO_ENABLED=0

# Memory is cheaper here than time: compiling ./internal/git and its test from nothing, for the race detector, takes 38 s of CPU
# instead of 45. go vet has seen everything before, and no one debugs these test programs.
export GOGC=400
quick='-vet=off -ldflags=-w'
# What real programs did is tried again each time. To know whether it could be reused, go would look at every file that the
# tests opened, some 500,000: 55 s of CPU.
again=-count=1

# shellcheck disable=SC2046,SC2086 # lists of words; empty means no word
case $1 in
plain)
	# Most stories wait for programs most of the time. Those that the race detector watches run once, there.
	failed=
	go test $quick $again -timeout 75m $alone || failed=1
	go test $quick $again -run "$repeated" ./internal/app/intake ./internal/forge/github ./internal/perform || failed=1
	go test $quick $again -timeout 75m -parallel "$(($(nproc) * 2))" ${race:+-skip "$shared"} $plain || failed=1
	[ -z "$failed" ]
	;;
raced)
	failed=
	# Each program waits a second at its end for races that others may still report.
	[ -z "$race" ] || export CGO_ENABLED=1 GORACE=atexit_sleep_ms=100
	go test $quick $again $race -skip "$repeated" -timeout 75m $longest $(without "$plain $alone") || failed=1
	[ -z "$race" ] || {
		go test $quick $again -race -timeout 75m -run "$shared" ./internal/cli ./internal/environment/clone || failed=1
	}
	[ -z "$failed" ]
	;;
live)
	# All at once: most of the time they wait for deadlines.
	[ -z "${SIGNALBOX_AGENTS:-}" ] || go test $quick $again -p 5 -timeout 30m -tags agents -run Live $agents
	;;
fast)
	go vet ./...
	go test $quick $(without "$plain ./internal/workflow/machine ./internal/environment/container ./internal/store ./internal/forge/local ./internal/pipeline ./internal/app/intake")
	;;
esac
