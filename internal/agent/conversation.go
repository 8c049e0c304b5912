package agent

import "strings"

// Conversation is an agent's own memory of a call, by which a later call goes on.
type Conversation struct {
	// ID is the agent's own; it passed ValidConversation.
	ID string `json:"id"`
	// Usage is what the agent had counted in the conversation so far, for those that count on.
	Usage Usage `json:"usage,omitzero"`
}

// ValidConversation reports whether an id that an agent told may be given back to it as an argument.
func ValidConversation(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Endpoint is where an agent finds its model instead of with its vendor.
type Endpoint struct {
	// URL begins with http:// and has no slash at its end. Paths of the vendor's API follow it.
	URL string
	// Key is what stands for the API key: worth nothing anywhere else.
	Key string
}

// Settings are how the configuration wants one agent to be run; every driver knows all of them.
type Settings struct {
	// Name is the name under which the configuration knows the agent.
	Name string
	// Program is its name or absolute path; empty means the usual name.
	Program string
	// Model is the agent's own name of a model; empty means its default.
	Model string
	// Permissions is what it may do unasked.
	Permissions Permissions
	// Args are further arguments, put before the prompt; Env further variables, KEY=value.
	Args []string
	Env  []string
	// ProjectSettings lets settings count that the repository brings for the agent. They can start
	// programs and say what is allowed. A driver that cannot leave them out lets them count anyway.
	ProjectSettings bool
}

// Permissions is what an agent may do without being asked.
type Permissions string

const (
	// Everything suits an environment that is a sandbox already.
	Everything Permissions = "everything"
	// Edits lets it change files; what its own rules ask for is denied.
	Edits Permissions = "edits"
	// ReadOnly lets it look.
	ReadOnly Permissions = "read-only"
	// Ask has it ask Task.Ask for all that its own rules do not allow by themselves, and wait.
	Ask Permissions = "ask"
)

// address is what the program must be able to reach.
func (e *Endpoint) address() []string {
	if e == nil {
		return nil
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(e.URL, "http://"), "/")
	return []string{host}
}
