package agent

import (
	"encoding/json"
	"errors"
	"slices"

	"signalbox/internal/process"
)

// Reader parses the output of one agent's program while it works. A driver makes one per call. Its methods are called one at a time, and never fail:
// output is untrusted and changes with each version of a program, so a Reader skips what it does not know.
type Reader interface {
	// Line reads one line of standard output and returns its entries. It must not keep the slice. If keep is false, the line only repeats others
	// and is left out of the raw output: pi and Codex print a message piece by piece and then as a whole.
	Line(line []byte) (entries []Entry, keep bool)
	// End returns the result of the call, after the program has ended for any reason. stderr is the end of what it printed there.
	End(end process.Result, stderr string) Ending
}

// Ending is the result of a call by the agent's own end rule: the final event of Claude Code, Codex and Gemini CLI, the last message of pi, the reason
// of the last step of opencode.
type Ending struct {
	// Whole: the agent reported that it finished, so the way its program ended afterwards doesn't matter. Some exit codes mean nothing: pi's is 0
	// even if the model failed.
	Whole bool
	// Answer is the last message of the agent; empty unless Whole.
	Answer string
	// Failure is the error that the agent reported, or the one it was last retrying because of. Without a Failure, an ending that isn't Whole is a
	// crash.
	Failure *Failure
	// Usage is what this call used, as far as it was reported.
	Usage Usage
	// Conversation can be resumed; nil if there is none.
	Conversation *Conversation
	// Denied are the tools that the agent was not allowed to use.
	Denied []string
}

// DeniedTools are the tools that an agent was not allowed to use, each once, in the agent's own names.
type DeniedTools []string

// maxDenied is more tools than any agent has. Names come from the agent, so the list is bounded.
const maxDenied = 100

// Add records a tool. It cleans the name, because a model may call a tool that it made up.
func (d *DeniedTools) Add(tool string) {
	if tool = Text(tool); !slices.Contains(*d, tool) && len(*d) < maxDenied {
		*d = append(*d, tool)
	}
}

// ToolInput returns the part of a tool's input that a person wants to see: a shell's command, or otherwise all of it. Every vendor calls the argument
// of its shell "command".
func ToolInput(raw json.RawMessage) string {
	var shell struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(raw, &shell) == nil && shell.Command != "" {
		return shell.Command
	}
	return string(raw)
}

// DecodeLoosely decodes a line into an event and reports whether it is JSON. It skips a field of an unexpected type and reads the others: one
// field that a newer version changed must not hide the end of a call.
func DecodeLoosely(line []byte, event any) bool {
	var wrongType *json.UnmarshalTypeError
	err := json.Unmarshal(line, event)
	return err == nil || errors.As(err, &wrongType)
}
