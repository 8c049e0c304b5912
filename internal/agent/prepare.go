package agent

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// prepare is a script for sh that makes links and writes files below HOME and becomes the program.
// All data are arguments: how many links, name and target of each; how many files, name and content
// of each; the program.
const prepare = `mask=$(umask); umask 077
n=$1; shift
while [ "$n" -gt 0 ]; do
	mkdir -p "$(dirname "$HOME/$1")" && ln -sfn "$2" "$HOME/$1" || exit
	shift 2; n=$((n-1))
done
n=$1; shift
while [ "$n" -gt 0 ]; do
	mkdir -p "$(dirname "$HOME/$1")" && printf %s "$2" >"$HOME/$1" || exit
	shift 2; n=$((n-1))
done
umask "$mask"
exec "$@"`

// arguments are those of the program, which is prepared for first.
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

// writes are what of the host the program may write.
func (t Task) writes() []string { return slices.Sorted(maps.Values(t.Login)) }
