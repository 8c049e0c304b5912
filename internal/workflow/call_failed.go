package workflow

import (
	"cmp"
	"fmt"
	"slices"
)

// Unusable reports whether the run stopped because its agent cannot be used as it is installed and
// configured: no attempt at the task was made, and only a person mends it.
func (e *Error) Unusable() bool {
	return slices.Contains([]string{AgentUnavailableCode, AgentUnauthorizedCode, AgentRequestRefusedCode, AgentNoRouteCode}, e.ReasonCode)
}

// AgentTitle says in one line that a role's agent failed, and how.
func AgentTitle(role Role, code string) string {
	what := map[string]string{AgentHungCode: "printed nothing for too long", AgentTimedOutCode: "took too long",
		AgentUnavailableCode: "cannot be started", AgentOutOfMemoryCode: "ran out of memory",
		AgentNoAnswerCode: "ended without an answer", AgentUnauthorizedCode: "was not let in by its model's server",
		AgentRequestRefusedCode: "was refused by its model's server", AgentUnreachableCode: "could not reach its model", AgentNoRouteCode: "cannot reach its model as this machine is set up",
		AgentModelFailedCode: "met a failing model", AgentContextOverflowCode: "said more than its model can hold"}[code]
	return fmt.Sprintf("the %s %s", role, cmp.Or(what, "failed"))
}
