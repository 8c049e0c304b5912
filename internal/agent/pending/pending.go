// Package pending keeps a program's open requests until all of their questions are answered. The drivers know what a request wants and how it is
// answered.
package pending

import (
	"slices"
	"strconv"

	"signalbox/internal/agent"
)

// Requests are those that wait.
type Requests[R any] struct {
	waiting map[string]R
	// open are the questions that were not answered yet, by our IDs, and asked counts all there were.
	open  map[string]place
	asked int
}

// place is where a question belongs.
type place struct {
	request string
	number  int
}

// Has reports whether a request waits, by the program's ID of it.
func (r *Requests[R]) Has(id string) bool {
	_, waits := r.waiting[id]
	return waits
}

// Put keeps a request, and returns its questions with the IDs by which they are answered.
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

// Answered takes a question out: the request that it belongs to, and which of its questions it is. It
// is not ok where no answer is wanted any more.
func (r *Requests[R]) Answered(q agent.Question) (id string, request R, number int, ok bool) {
	p, ok := r.open[q.ID]
	delete(r.open, q.ID)
	return p.request, r.waiting[p.request], p.number, ok
}

// Drop lets go of a request, and returns the IDs of those of its questions that wait. One that is not
// there has none.
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

// Inquiry is one question with which a model turns to a person, as more than one program words it.
type Inquiry struct {
	Question string `json:"question"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// Ask returns the inquiry as it is put to a person.
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

// Reply returns what a person said, in the model's own words where it is one of the options.
func (i Inquiry) Reply(a agent.Answer) string {
	if a.Verdict == agent.Chosen && a.Option >= 0 && a.Option < len(i.Options) {
		return i.Options[a.Option].Label
	}
	return a.Text
}
