package agent

import "time"

// Entry is one thing that happened in a conversation, in words that are the same for every agent:
// one line of its transcript. What the agent itself said is in its raw output.
type Entry struct {
	Time time.Time `json:"time"`
	Kind EntryKind `json:"kind"`
	// Text is what was said or what went wrong, without control characters and of at most EntryRunes.
	Text string `json:"text,omitempty"`
	// Tool is the agent's own name of a tool, Call what ties its result to its call.
	Tool string `json:"tool,omitempty"`
	Call string `json:"call,omitempty"`
	// Failed is of a tool's result.
	Failed bool `json:"failed,omitempty"`
	// Conversation, Program and Model are of a beginning; Program is the program's name for people.
	Conversation string `json:"conversation,omitempty"`
	Program      string `json:"program,omitempty"`
	Model        string `json:"model,omitempty"`
	// Attempt is of a retry: the agent's own count from 1. Wait is how long it says to wait.
	Attempt int           `json:"attempt,omitempty"`
	Wait    time.Duration `json:"wait_ns,omitempty"`
	// Status is the HTTP status of a retry or an error, where one is told.
	Status int `json:"status,omitempty"`
	// Usage is of a usage or an end.
	Usage *Usage `json:"usage,omitempty"`
}

// EntryKind says what happened.
type EntryKind string

const (
	Began            EntryKind = "begin"   // the conversation has an id
	Said             EntryKind = "message" // the agent's own words
	ToolCalled       EntryKind = "tool_call"
	ToolReturned     EntryKind = "tool_result"
	PermissionAsked  EntryKind = "permission_asked"
	PermissionDenied EntryKind = "permission_denied"
	QuestionAsked    EntryKind = "question_asked"    // of a choice, or in words
	QuestionAnswered EntryKind = "question_answered" // also of a permission; Failed where it was denied
	Retrying         EntryKind = "retry"             // the agent itself calls the model again
	Warned           EntryKind = "warning"           // it went on in spite of this
	Used             EntryKind = "usage"
	Erred            EntryKind = "error" // it did not go on
	Over             EntryKind = "end"
)

// EntryRunes bounds the text of an entry: what a person reads, not what a file holds.
const EntryRunes = 4000

// Text is s as an entry holds it: without control characters but line ends and tabs, and cut.
func Text(s string) string { return cleaned(s, EntryRunes) }
