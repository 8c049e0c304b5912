package claude

import (
	"cmp"
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/pending"
)

// request is an open request to use a tool.
type request struct {
	tool  string
	input json.RawMessage
	// questions come from the tool by which the model asks a person; nil for a permission. They are asked one by one, and their answers are
	// returned together.
	questions []pending.Inquiry
	answers   map[string]string
	left      int
}

const (
	personTool = "AskUserQuestion"
	// maxInquiries is more questions than it asks at once.
	maxInquiries = 10
)

// asks returns the questions of the request.
func (r *request) asks(dir string) (all []agent.Question) {
	for _, q := range r.questions {
		all = append(all, q.Ask(r.tool))
	}
	if all != nil {
		return all
	}
	var of struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
		URL      string `json:"url"`
	}
	subject := "" // what patterns are compared with
	if json.Unmarshal(r.input, &of) == nil {
		subject = cmp.Or(of.Command, agent.Below(dir, cmp.Or(of.File, of.Notebook, of.Path)), of.URL)
	}
	return []agent.Question{{Kind: agent.Permission, Tool: r.tool, Subject: subject, Text: wanted(r.input)}}
}
