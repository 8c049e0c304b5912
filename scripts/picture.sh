#!/bin/sh
# Records the demonstration in a real terminal and makes docs/demo.svg of it. Needs asciinema and npm.
set -eu
cd "$(dirname "$0")/.."
. scripts/install.sh

hasGo
need asciinema asciinema
need npm npm
need script bsdutils
install || { echo "Install these first:$missing"; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/signalbox" ./cmd/signalbox
cat >"$folder/record" <<END
stty cols 100 rows 30
exec asciinema rec --quiet --idle-time-limit 1.5 --command 'signalbox demo $folder/demo' $folder/demo.cast
END
PATH=$folder:$PATH TERM=xterm-256color script --quiet --return --command "sh $folder/record" /dev/null
npx --yes svg-term-cli@2.1.1 --in "$folder/demo.cast" --out docs/demo.svg --window --width 100 --height 30
(cd "$folder/demo" && "$folder/signalbox" env remove --all >/dev/null)
