package agent

import (
	"strings"
	"time"
	"unicode"

	"signalbox/internal/redact"
)

// Entry is one event of a conversation, in the same words for every agent: one line of its transcript. The agent's original words are in its raw
// output.
type Entry struct {
	Time time.Time `json:"time"`
	Kind EntryKind `json:"kind"`
	// Text is the message or the error, without control characters and at most EntryRunes long.
	Text string `json:"text,omitempty"`
	// Tool is the agent's own name of a tool. Call connects a tool's result to its call.
	Tool string `json:"tool,omitempty"`
	Call string `json:"call,omitempty"`
	// Failed is set on a tool's result if the tool failed.
	Failed bool `json:"failed,omitempty"`
	// Conversation, Program and Model are set on a Began entry; Program is the program's name for people.
	Conversation string `json:"conversation,omitempty"`
	Program      string `json:"program,omitempty"`
	Model        string `json:"model,omitempty"`
	// Attempt is the agent's own count of a retry, from 1. Wait is how long it says it will wait.
	Attempt int           `json:"attempt,omitempty"`
	Wait    time.Duration `json:"wait_ns,omitempty"`
	// Status is the HTTP status of a retry or an error, if known.
	Status int `json:"status,omitempty"`
	// Usage is set on a Used or Over entry.
	Usage *Usage `json:"usage,omitempty"`
}

// EntryKind is the kind of an event.
type EntryKind string

const (
	// Began: the conversation has an id from here on.
	Began EntryKind = "begin"
	// Said: the agent's own words.
	Said EntryKind = "message"
	// ToolCalled and ToolReturned are connected by Entry.Call.
	ToolCalled   EntryKind = "tool_call"
	ToolReturned EntryKind = "tool_result"
	// PermissionAsked: the agent waits until its use of a tool is allowed or denied.
	PermissionAsked EntryKind = "permission_asked"
	// PermissionDenied: a tool was refused without asking.
	PermissionDenied EntryKind = "permission_denied"
	// QuestionAsked: the agent waits for a choice or a reply in words.
	QuestionAsked EntryKind = "question_asked"
	// QuestionAnswered: a question or permission was answered; Failed if it was denied.
	QuestionAnswered EntryKind = "question_answered"
	// Retrying: the agent calls the model again by itself.
	Retrying EntryKind = "retry"
	// Warned: something went wrong, and the agent continued.
	Warned EntryKind = "warning"
	// Used: the usage so far.
	Used EntryKind = "usage"
	// Erred: something went wrong, and the agent stopped.
	Erred EntryKind = "error"
	// Over is the last entry, with the result of the call.
	Over EntryKind = "end"
)

// EntryRunes is the longest text of an entry, in characters: enough for a person to read, not for a whole file.
const EntryRunes = 4000

// Text returns s as an entry holds it: without control, format and other invisible characters except line ends and tabs, and shortened.
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
