package agent

import (
	"strings"
	"time"
	"unicode"

	"signalbox/internal/redact"
)

// Entry is one event of a conversation, in the same words for every agent: one line of its transcript. The agent's original words are in its raw
// output. A field that a program doesn't report is empty.
type Entry struct {
	// Time is set by the caller that records the entry, in UTC. Programs' own times are ignored: the clock of an environment may be wrong.
	Time time.Time `json:"time"`
	Kind EntryKind `json:"kind"`
	// Text is the message or the error, without control characters and at most EntryRunes long. For a tool it is the input, or the result.
	Text string `json:"text,omitempty"`
	// Tool is the agent's own name of a tool ("Bash", "command_execution", "run_shell_command"). Call connects a tool's result to its call; it is the
	// program's own id, unique within a conversation.
	Tool string `json:"tool,omitempty"`
	Call string `json:"call,omitempty"`
	// Failed is set on a tool's result if the tool failed, on an answered question if it was denied, and on the last entry if the call failed.
	Failed bool `json:"failed,omitempty"`
	// Conversation, Program and Model are set on a Began entry; Program is the program's name for people.
	Conversation string `json:"conversation,omitempty"`
	Program      string `json:"program,omitempty"`
	Model        string `json:"model,omitempty"`
	// Attempt is the agent's own count of a retry, from 1. Wait is how long it says it will wait: in Go a time.Duration, in JSON nanoseconds.
	Attempt int           `json:"attempt,omitempty"`
	Wait    time.Duration `json:"wait_ns,omitempty"`
	// Status is the HTTP status of a retry or an error, if known. A failed connection has none.
	Status int `json:"status,omitempty"`
	// Usage is set on a Used or Over entry.
	Usage *Usage `json:"usage,omitempty"`
}

// EntryKind is the kind of an event. The values are part of the transcript's format (docs/agents.md).
type EntryKind string

const (
	// Began: the conversation has an id from here on, so a crash from here on can resume it. Every driver reports it once; programs that fail
	// before they reach their model may never print it.
	Began EntryKind = "begin"
	// Said: the agent's own words, one complete message. The last one is usually the answer.
	Said EntryKind = "message"
	// ToolCalled and ToolReturned are connected by Entry.Call. opencode reports both at once, when the tool is done.
	ToolCalled   EntryKind = "tool_call"
	ToolReturned EntryKind = "tool_result"
	// PermissionAsked: the agent waits until its use of a tool is allowed or denied. This package reports it for every Dialogue.
	PermissionAsked EntryKind = "permission_asked"
	// PermissionDenied: a tool was refused without asking, by the program's own rules or tools. What Codex's own sandbox prevents is in
	// no event, so it isn't reported.
	PermissionDenied EntryKind = "permission_denied"
	// QuestionAsked: the agent waits for a choice or a reply in words. This package reports it, as PermissionAsked.
	QuestionAsked EntryKind = "question_asked"
	// QuestionAnswered: a question or permission was answered; Failed if it was denied. The Asker's owner reports it, because it knows who answered.
	QuestionAnswered EntryKind = "question_answered"
	// Retrying: the agent calls the model again by itself. Claude Code, Codex, opencode and pi report it; Gemini CLI only prints it on standard error.
	Retrying EntryKind = "retry"
	// Warned: something went wrong, and the agent continued. This package also reports a line that was too long to read.
	Warned EntryKind = "warning"
	// Used: what was used since the last entry of this kind; a sum over the transcript is the total. If the call has a gateway, the gateway reports it
	// after every answer, and the agent's own entries are left out.
	Used EntryKind = "usage"
	// Erred: something went wrong, and the agent stopped. Entry.Text is the server's or the program's message.
	Erred EntryKind = "error"
	// Over is the last entry, with the result of the call. This package reports it; if the outcome is unknown, the caller does.
	Over EntryKind = "end"
)

// EntryRunes is the longest text of an entry, in characters: enough for a person to read, not for a whole file. Everything is in the raw output.
const EntryRunes = 4000

// Text returns s as an entry holds it: without control, format and other invisible characters except line ends and tabs, and shortened. Drivers apply
// it to every string that a program printed. It returns its own results unchanged.
func Text(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(redact.Clean(s)))
	if runes := []rune(s); len(runes) > EntryRunes {
		s = string(runes[:EntryRunes-1]) + "…"
	}
	return s
}
