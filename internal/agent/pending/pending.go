// Package pending keeps a program's open requests until all of their questions are answered. The drivers know what a request wants and how it is
// answered.
package pending

import (
	"slices"
	"strconv"

	"signalbox/internal/agent"
)

// Requests are a program's open requests. The zero value is ready to use.
type Requests[R any] struct {
	waiting map[string]R
	// open are the unanswered questions, by our IDs; asked counts all questions so far.
	open  map[string]place
	asked int
}

// place is a question's place: its request, and its number there.
type place struct {
	request string
	number  int
}

// Has reports whether a request is open, by the program's ID.
func (r *Requests[R]) Has(id string) bool {
	_, waits := r.waiting[id]
	return waits
}

// Put adds a request, and returns its questions with IDs of our own.
func (r *Requests[R]) Put(id string, request R, questions []agent.Question) []agent.Question {
	if r.waiting == nil {
		r.waiting, r.open = map[string]R{}, map[string]place{}
	}
	r.waiting[id] = request
	questions = slices.Clone(questions)
	for number := range questions {
		r.asked++
		questions[number].ID = strconv.Itoa(r.asked)
		r.open[questions[number].ID] = place{id, number}
	}
	return questions
}

// Answered removes a question, and returns the request that it belongs to and its number there. ok is false if the program no longer wants an answer.
func (r *Requests[R]) Answered(q agent.Question) (id string, request R, number int, ok bool) {
	p, ok := r.open[q.ID]
	delete(r.open, q.ID)
	return p.request, r.waiting[p.request], p.number, ok
}

// Drop removes a request, and returns the IDs of its open questions. An unknown request has none.
func (r *Requests[R]) Drop(id string) (withdrawn []string) {
	for question, p := range r.open {
		if p.request == id {
			delete(r.open, question)
			withdrawn = append(withdrawn, question)
		}
	}
	delete(r.waiting, id)
	return withdrawn
}

// Inquiry is one question of a model to a person, in the format that Claude Code and Codex share.
type Inquiry struct {
	Question string `json:"question"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// Ask returns the question for a person: a Choice if it has options.
func (i Inquiry) Ask(tool string) agent.Question {
	asked := agent.Question{Kind: agent.Words, Tool: tool, Text: i.Question}
	for _, option := range i.Options {
		asked.Kind = agent.Choice
		if option.Description != "" {
			option.Label += ": " + option.Description
		}
		asked.Options = append(asked.Options, option.Label)
	}
	return asked
}

// Reply returns the person's answer: the label of the chosen option, or the person's own words.
func (i Inquiry) Reply(a agent.Answer) string {
	if a.Verdict == agent.Chosen && a.Option >= 0 && a.Option < len(i.Options) {
		return i.Options[a.Option].Label
	}
	return a.Text
}
