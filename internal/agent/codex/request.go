package codex

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
	"signalbox/internal/agent/pending"
)

// request is an open request of Codex: to do something, or for a person's answers.
type request struct {
	message jsonrpc.Message
	// thread and turn are where it waits.
	thread, turn string
	// questions are asked one by one and answered together: allowed is the response when all of them are allowed, denied the response as soon as one is
	// not. left counts the open ones.
	questions       []agent.Question
	left            int
	allowed, denied any
	// inquiries are the questions of the tool by which the model asks a person; answers are a person's answers by the questions' ids.
	inquiries []inquiry
	answers   map[string]any
}

// wish holds the parameters of all kinds of requests.
type wish struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Reason   string `json:"reason"`
	// Of a command. Another kind than "command" is input for a running command.
	Kind    string `json:"kind"`
	Command string `json:"command"`
	Cwd     string `json:"cwd"`
	Network struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	// Of an MCP server, which may also ask for information.
	Server string `json:"serverName"`
	Meta   struct {
		Kind   string          `json:"codex_approval_kind"`
		Tool   string          `json:"tool_name"`
		Params json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
	// Of the tool that asks a person.
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
	// maxInquiries is more questions than it asks a person at once, maxFiles more files than most patches change.
	maxInquiries = 10
	maxFiles     = 30
)

// reasoned returns q with the model's own reason.
func (w wish) reasoned(q agent.Question) agent.Question {
	if w.Reason != "" {
		q.Text += "\n" + w.Reason
	}
	return q
}

// ofPatch returns one question per file, because a pattern matches one path. A patch with too many files is one question that no pattern can allow.
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
