package agent

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// prepare is a script for sh that creates links and files below HOME and then becomes the program. All data are arguments: the number of links,
// with name and target of each (without a target the link is removed); the number of files, with name and content of each; the program. If the
// agent made a folder while it had no login, the folder is moved aside for the link and restored when the link goes. It runs where the program does,
// because HOME of an environment is not on this machine's paths.
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

// arguments returns the program's command line, preceded by prepare if needed. Names are sorted, so the same task gives the same command.
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

// Variables that tell every agent's program which call this is. All are always set, so a script may rely on them under "set -u". Vendors' programs
// ignore them; a script that is an agent (package command) and the replay driver act on them. They are documented in docs/agents.md.
const (
	// VariableRole is planner, implementer, reviewer or repairer.
	VariableRole = "SIGNALBOX_ROLE"
	// VariableKey is Task.Key. A script can use it to recognize a call that is repeated after a crash.
	VariableKey = "SIGNALBOX_KEY"
	// VariableStep is the step's id ("S01"), empty if the call belongs to no step.
	VariableStep = "SIGNALBOX_STEP"
	// VariableAttempt counts the calls for the step from 1; it is "0" if the call belongs to no step.
	VariableAttempt = "SIGNALBOX_ATTEMPT"
	// VariableRound counts the review rounds from 1; it is "0" outside the review.
	VariableRound = "SIGNALBOX_ROUND"
)

// environ returns the program's environment: the driver's own variables, then the task's, then those above. Of two with the same name only the
// later is kept, because programs differ in which one they believe.
func (t Task) environ(own []string) []string {
	ours := []string{
		VariableRole + "=" + t.Role,
		VariableKey + "=" + t.Key,
		VariableStep + "=" + t.StepID,
		VariableAttempt + "=" + strconv.Itoa(t.Attempt),
		VariableRound + "=" + strconv.Itoa(t.Round),
	}
	// place is where each name is in env.
	var env []string
	place := map[string]int{}
	for _, list := range [][]string{own, t.Env, ours} {
		for _, variable := range list {
			name, _, _ := strings.Cut(variable, "=")
			if i, there := place[name]; there {
				env[i] = variable
				continue
			}
			place[name] = len(env)
			env = append(env, variable)
		}
	}
	return env
}
