package agent

import (
	"encoding/json"
	"errors"
	"slices"

	"signalbox/internal/process"
)

// Reader understands what one agent's program prints while it works. A driver makes one per call.
type Reader interface {
	// Line takes one line of standard output, which is only lent, and says what it tells. A line
	// that is not kept does not go into the raw output: it repeats what others say.
	Line(line []byte) (entries []Entry, keep bool)
	// End says what the call came to, once the program ended and whatever ended it.
	End(end process.Result, stderr string) Ending
}

// Ending is what a call came to by the agent's own end rule.
type Ending struct {
	// Whole: the agent said that it had finished, so it does not matter how its program ended after.
	Whole  bool
	Answer string
	// Failure is what the agent says went wrong, or what it was last trying again because of. Without
	// one an ending that is not Whole is a crash.
	Failure *Failure
	Usage   Usage
	// Conversation is nil where there is none to go on with.
	Conversation *Conversation
	// Denied are the tools that it was not allowed to use.
	Denied []string
}

// DeniedTools are the tools that an agent was not allowed to use, each once.
type DeniedTools []string

// maxDenied is more than an agent has tools.
const maxDenied = 100

// Add notes a tool.
func (d *DeniedTools) Add(tool string) {
	if tool = Text(tool); !slices.Contains(*d, tool) && len(*d) < maxDenied {
		*d = append(*d, tool)
	}
}

// ToolInput returns what a person wants to see of a tool's input: a shell's command, or else all of it.
func ToolInput(raw json.RawMessage) string {
	var shell struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(raw, &shell) == nil && shell.Command != "" {
		return shell.Command
	}
	return string(raw)
}

// DecodeLoosely decodes a line into an event and reports whether it is JSON. A field of another type is left out, and
// the others are read.
func DecodeLoosely(line []byte, event any) bool {
	var wrongType *json.UnmarshalTypeError
	err := json.Unmarshal(line, event)
	return err == nil || errors.As(err, &wrongType)
}
