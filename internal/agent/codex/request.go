package codex

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
	"signalbox/internal/agent/pending"
)

// request is what it wants to do, or to know, and waits with.
type request struct {
	message jsonrpc.Message
	// thread and turn are those in which it waits.
	thread, turn string
	// questions are asked one by one, and answered together: allowed is the response once all of them
	// were, denied the one as soon as one was not.
	questions       []agent.Question
	left            int
	allowed, denied any
	// inquiries are of the tool by which the model asks a person, answers those to them by their ids.
	inquiries []inquiry
	answers   map[string]any
}

// wish is what comes with a request.
type wish struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Reason   string `json:"reason"`
	// Of a command. One of another kind than "command" is typed into what runs already.
	Kind    string `json:"kind"`
	Command string `json:"command"`
	Cwd     string `json:"cwd"`
	Network struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	// Of a server of tools, which may want to know things, too.
	Server string `json:"serverName"`
	Meta   struct {
		Kind   string          `json:"codex_approval_kind"`
		Tool   string          `json:"tool_name"`
		Params json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
	// Of a person.
	Questions []inquiry `json:"questions"`
}

// inquiry is one question to a person.
type inquiry struct {
	ID     string `json:"id"`
	Secret bool   `json:"isSecret"`
	pending.Inquiry
}

const (
	personTool  = "request_user_input"
	networkTool = "network"
	// maxInquiries is more than it asks a person at once, maxFiles more than most patches change.
	maxInquiries = 10
	maxFiles     = 30
)

// reasoned returns q with the model's own word for why.
func (w wish) reasoned(q agent.Question) agent.Question {
	if w.Reason != "" {
		q.Text += "\n" + w.Reason
	}
	return q
}

// ofPatch asks for each file, as patterns know one path at a time. A patch of more than can be asked
// for so is one question, which no pattern allows.
func (w wish) ofPatch(changes []change, dir string) (all []agent.Question) {
	for _, c := range changes {
		path, to := agent.Below(dir, c.Path), agent.Below(dir, c.Kind.To)
		q := agent.Question{Kind: agent.Permission, Tool: patchTool, Subject: path, Text: c.Kind.Type + " " + path + "\n" + c.Diff}
		all = append(all, w.reasoned(q))
		if to != "" {
			q.Subject = to
			all = append(all, w.reasoned(q))
		}
	}
	if len(all) > 0 && len(all) <= maxFiles {
		return all
	}
	var paths []string
	for _, q := range all {
		paths = append(paths, q.Subject)
	}
	list := strings.Join(paths, "\n")
	return []agent.Question{w.reasoned(agent.Question{Kind: agent.Permission, Tool: patchTool, Subject: list, Text: list, Altered: true})}
}
