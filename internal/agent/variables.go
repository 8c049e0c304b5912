package agent

import (
	"strconv"
	"strings"
)

// The variables by which every agent's program is told which call this is.
// All are always set: a script may rely on them under "set -u".
const (
	VariableRole    = "SIGNALBOX_ROLE"
	VariableKey     = "SIGNALBOX_KEY"
	VariableStep    = "SIGNALBOX_STEP"    // empty where the call belongs to no step
	VariableAttempt = "SIGNALBOX_ATTEMPT" // "0" where the call belongs to no step
	VariableRound   = "SIGNALBOX_ROUND"   // "0" outside the review
)

// environ is the program's environment: the driver's own variables, then the
// task's, then those above. A later one replaces an earlier one of the same
// name, because programs differ in which of two they believe.
func (t Task) environ(own []string) []string {
	ours := []string{
		VariableRole + "=" + t.Role,
		VariableKey + "=" + t.Key,
		VariableStep + "=" + t.StepID,
		VariableAttempt + "=" + strconv.Itoa(t.Attempt),
		VariableRound + "=" + strconv.Itoa(t.Round),
	}
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
