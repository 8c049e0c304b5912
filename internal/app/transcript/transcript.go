// Package transcript puts what an agent did into words for people, for every front end that shows a log. It draws nothing and removes no
// secrets.
package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/commandline"
)

// Tone is how much a line matters.
type Tone int

const (
	Plain     Tone = iota
	Strong         // the agent's own words
	Attention      // a question, an answer, a retry or a warning
	Bad            // something failed
)

// Line is an event of a conversation. Its text is cleaned of nothing and may have several lines.
type Line struct {
	Time time.Time
	Kind agent.EntryKind
	Tone Tone
	// What is a word for what happened, Says what there is to say about it. Both are empty if people needn't see it.
	What, Says string
}

// Of returns the event of a log's line; ok is false if a program printed the line.
func Of(l app.LogLine) (line Line, ok bool) {
	var e agent.Entry
	if !l.Entry || json.Unmarshal([]byte(l.Text), &e) != nil {
		return Line{}, false
	}
	line = Line{Time: e.Time, Kind: e.Kind}
	line.Tone, line.What, line.Says = words(e)
	return line, true
}

func words(e agent.Entry) (tone Tone, what, says string) {
	switch e.Kind {
	case agent.Began:
		return Plain, "begin", strings.TrimSpace(e.Model + " " + e.Conversation)
	case agent.ToolCalled:
		return Plain, "does", strings.TrimSpace(e.Tool + ": " + FirstLines(e.Text, 3))
	case agent.Over:
		says = e.Text
		if u := e.Usage; u != nil && *u != (agent.Usage{}) {
			says += fmt.Sprintf(" %d tokens in, %d out", u.InputTokens, u.OutputTokens)
			if u.CostUSD > 0 {
				says += fmt.Sprintf(", $%.4f", u.CostUSD)
			}
		}
		return Plain, "end", strings.TrimSpace(says)
	case agent.Said:
		return Strong, "says", e.Text
	case agent.ToolReturned:
		if !e.Failed {
			return Plain, "", ""
		}
		return Bad, "failed", FirstLines(e.Text, 6)
	case agent.PermissionAsked, agent.QuestionAsked:
		return Attention, "asks", e.Tool + ": " + e.Text
	case agent.QuestionAnswered:
		return Attention, "is told", FirstLines(e.Text, 3)
	case agent.PermissionDenied:
		return Attention, "denied", e.Tool + ": " + FirstLines(e.Text, 3)
	case agent.Retrying:
		return Attention, "retry", strings.TrimSpace(fmt.Sprintf("%d %s", e.Attempt, e.Text))
	case agent.Warned:
		return Attention, "warning", e.Text
	case agent.Erred:
		return Bad, "error", e.Text
	}
	return Plain, "", ""
}

// FirstLines are the first n lines of text, and how many more there are.
func FirstLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines[:n], "\n") + fmt.Sprintf("\n… %s more", commandline.Count(len(lines)-n, "line"))
}
