package agent

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// prepare is a script for sh that creates links and files below HOME and then becomes the program. All data are arguments: the number of links,
// with name and target of each (without a target the link is removed); the number of files, with name and content of each; the program. If the
// agent made a folder while it had no login, the folder is moved aside for the link and restored when the link goes.
const prepare = `mask=$(umask); umask 077
n=$1; shift
while [ "$n" -gt 0 ]; do
	at=$HOME/$1 own=$HOME/$1.without-login
	if [ -L "$at" ]; then rm -f "$at" || exit; fi
	if [ -z "$2" ]; then
		if [ -e "$own" ] && [ ! -e "$at" ]; then mv "$own" "$at" || exit; fi
	else
		if [ -e "$at" ]; then rm -rf "$own" && mv "$at" "$own" || exit; fi
		mkdir -p "$(dirname "$at")" && ln -s "$2" "$at" || exit
	fi
	shift 2; n=$((n-1))
done
n=$1; shift
while [ "$n" -gt 0 ]; do
	if [ -L "$HOME/$1" ]; then rm -f "$HOME/$1" || exit; fi
	mkdir -p "$(dirname "$HOME/$1")" && printf %s "$2" >"$HOME/$1" || exit
	shift 2; n=$((n-1))
done
umask "$mask"
exec "$@"`

// arguments returns the program's command line, preceded by prepare if needed.
func (p Program) arguments(t Task) []string {
	if len(p.Files)+len(t.Login) == 0 {
		return p.Args
	}
	args := []string{"/bin/sh", "-c", prepare, "sh"}
	for _, pairs := range []map[string]string{t.Login, p.Files} {
		args = append(args, strconv.Itoa(len(pairs)))
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			args = append(args, strings.TrimPrefix(name, "~/"), pairs[name])
		}
	}
	return append(args, p.Args...)
}
