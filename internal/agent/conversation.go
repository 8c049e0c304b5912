package agent

import "strings"

// Conversation identifies an agent's own memory of a call, so that a later call can resume it.
type Conversation struct {
	// ID is the agent's own id. ValidConversation accepted it.
	ID string `json:"id"`
	// Usage is the total the agent had reported for the conversation, for agents whose counts continue when it is resumed.
	Usage Usage `json:"usage,omitzero"`
}

// ValidConversation reports whether an id from an agent is safe to pass back to it as an argument.
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

// Endpoint is where an agent reaches its model instead of at its vendor.
type Endpoint struct {
	// URL begins with http:// and does not end in a slash. The paths of the vendor's API follow it.
	URL string
	// Key replaces the API key. It is valid at this URL only.
	Key string
}

// Settings is one agent's part of the configuration. Every driver understands all of its fields.
type Settings struct {
	// Name is the agent's name in the configuration.
	Name string
	// Program is the program's name or absolute path; empty means the usual name.
	Program string
	// Model is the agent's own name for a model; empty means its default.
	Model string
	// Permissions says what the agent may do without asking.
	Permissions Permissions
	// Args are additional arguments, put before the prompt; Env are additional variables, KEY=value.
	Args []string
	Env  []string
	// ProjectSettings applies the settings for the agent that the repository contains. They can start programs and allow tools. A driver whose
	// program can't ignore them applies them anyway.
	ProjectSettings bool
}

// Permissions says what an agent may do without asking.
type Permissions string

const (
	// Everything allows all tools. It suits an environment that is a sandbox already.
	Everything Permissions = "everything"
	// Edits allows changing files. Anything the agent's own rules would ask about is denied.
	Edits Permissions = "edits"
	// ReadOnly allows reading only.
	ReadOnly Permissions = "read-only"
	// Ask has the agent put every use that its own rules don't allow to Task.Ask, and wait for the answer.
	Ask Permissions = "ask"
)

// address returns the address that the program must be able to reach.
func (e *Endpoint) address() []string {
	if e == nil {
		return nil
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(e.URL, "http://"), "/")
	return []string{host}
}
