#!/bin/sh
# Records the board in a real terminal, which tmux types at, and makes docs/tui.svg of it. Needs asciinema, npm and tmux.
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh

hasGo
need asciinema asciinema
need npm npm
need tmux tmux
install || { echo "Install these first:$missing"; exit 1; }

folder=$(mktemp -d)
trap 'tmux -L signalbox-recording kill-server 2>/dev/null || :; rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/" ./cmd/signalbox ./cmd/signalbox-tui
export PATH="$folder:$PATH" SIGNALBOX_TRUST=1 XDG_STATE_HOME="$folder/state"

mkdir -p "$folder/project/.signalbox"
cd "$folder/project"
echo hello >greeting.txt
printf 'cat >/dev/null\nsleep 2\necho "Hello, world" >greeting.txt\n' >agent.sh
cat >.signalbox/config.yaml <<CONFIG
workflow: simple
tests: ["grep -qi world greeting.txt"]
agents: {shell: {driver: command, command: [sh, ./agent.sh]}}
CONFIG
git init -q --initial-branch=main
git config user.name Ada
git config user.email ada@localhost
git add .
git commit -q -m Begin
for title in "Greet the world" "Count words whatever the space between them" "Say which line a parser stumbled over"; do
	signalbox new "$title" --body "As it says." >/dev/null
done
git add . && git commit -q -m Requests

# types presses keys after so many seconds.
types() {
	sleep "$1"
	shift
	tmux -L signalbox-recording send-keys -t tui "$@"
}
tmux -L signalbox-recording new-session -d -s tui -x 100 -y 26 "asciinema rec --quiet --idle-time-limit 1.5 --command signalbox $folder/tui.cast"
types 4 R
types 2 y
types 1 Enter
types 2 l
types 8 d
types 3 Escape
types 2 4
types 1 a
types 3 y
types 8 '?'
types 3 q
sleep 2
cd - >/dev/null
npx --yes svg-term-cli@2.1.1 --in "$folder/tui.cast" --out docs/tui.svg --window --width 100 --height 26
