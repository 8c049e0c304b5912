package agent

import (
	"strconv"
	"strings"
)

// Variables that tell every agent's program which call this is. All are always set, so a script may rely on them under "set -u".
const (
	VariableRole    = "SIGNALBOX_ROLE"
	VariableKey     = "SIGNALBOX_KEY"
	VariableStep    = "SIGNALBOX_STEP"    // empty if the call belongs to no step
	VariableAttempt = "SIGNALBOX_ATTEMPT" // "0" if the call belongs to no step
	VariableRound   = "SIGNALBOX_ROUND"   // "0" outside the review
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
