package codex

import (
	"cmp"
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
)

// notice is a notification of the app server. Kinds and fields that are not here are ignored.
type notice struct {
	ThreadID string   `json:"threadId"`
	Item     happened `json:"item"`
	// Of turn/completed.
	Turn struct {
		Status string  `json:"status"`
		Error  problem `json:"error"`
	} `json:"turn"`
	// Of error.
	Error     problem `json:"error"`
	WillRetry bool    `json:"willRetry"`
	// Of thread/tokenUsage/updated: all that the conversation used.
	Usage struct {
		Total struct {
			Input   int64 `json:"inputTokens"`
			Read    int64 `json:"cachedInputTokens"`
			Written int64 `json:"cacheWriteInputTokens"`
			Output  int64 `json:"outputTokens"`
		} `json:"total"`
	} `json:"tokenUsage"`
	// Of warning.
	Message string `json:"message"`
	// Of serverRequest/resolved.
	RequestID json.RawMessage `json:"requestId"`
}

type problem struct {
	Message string `json:"message"`
	Details string `json:"additionalDetails"`
}

// happened is an item as the app server reports it: an item of "codex exec" with other names.
type happened struct {
	item
	Output   string   `json:"aggregatedOutput"`
	ExitCode int      `json:"exitCode"`
	Changes  []change `json:"changes"`
}

// change is what a patch does to one file.
type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string `json:"type"`
		To   string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"`
}

// types maps the app server's names of items to those of "codex exec". Other items are ignored.
var types = map[string]string{"agentMessage": "agent_message", "commandExecution": commandTool, "fileChange": patchTool,
	"mcpToolCall": "mcp_tool_call", "webSearch": "web_search"}

// plain returns the item as "codex exec" reports it.
func (h happened) plain() item {
	i := h.item
	i.Type, i.Output, i.ExitCode, i.Changes = types[h.Type], h.Output, h.ExitCode, nil
	for _, c := range h.Changes {
		i.Changes = append(i.Changes, patched{c.Path, c.Kind.Type})
	}
	return i
}

// told handles a notification. Codex also has conversations with itself, such as reviews; of those only the questions count.
func (a *asking) told(m jsonrpc.Message) []agent.Entry {
	var n notice
	_ = json.Unmarshal(m.Params, &n) // a field of another type is left out, and the others are read
	if n.ThreadID != "" && n.ThreadID != a.thread {
		return nil
	}
	switch m.Method {
	case "item/started":
		// Keep a patch's changes: the request for permission doesn't repeat them.
		if len(n.Item.Changes) != 0 {
			if len(a.patches) >= maxPatches {
				clear(a.patches)
			}
			a.patches[n.Item.ID] = n.Item.Changes
		}
		return a.begins(n.Item.plain())
	case "item/completed":
		delete(a.patches, n.Item.ID)
		a.retrying = ""
		return a.ends(n.Item.plain())
	case "thread/tokenUsage/updated":
		t := n.Usage.Total
		// The usage of the whole conversation never decreases here. In Codex it does when the conversation became too long.
		total := usage{t.Input, t.Read, t.Written, t.Output}.total()
		if !a.counting && total.InputTokens < a.before.InputTokens {
			a.offset = a.before
		}
		a.counting = true
		if total = a.offset.Add(total); total.InputTokens >= a.counted.InputTokens {
			a.counted = total
		}
	case "error":
		if !n.WillRetry {
			return a.fails(n.Error.Message)
		}
		attempt, _, _ := retry(n.Error.Message)
		return a.retries(attempt, cmp.Or(n.Error.Details, n.Error.Message))
	case "warning":
		return []agent.Entry{{Kind: agent.Warned, Text: agent.Text(n.Message)}}
	case "serverRequest/resolved":
		a.next.Withdrawn = append(a.next.Withdrawn, a.requests.Drop(string(n.RequestID))...)
	case "turn/completed":
		a.next.Over = true
		switch n.Turn.Status {
		case "completed":
			return a.completes(a.counted)
		case "failed":
			return a.fails(cmp.Or(n.Turn.Error.Message, "the turn failed"))
		}
		return a.fails("the turn was broken off: " + n.Turn.Status)
	}
	return nil
}

// maxPatches is more patches than it works on at once.
const maxPatches = 20
