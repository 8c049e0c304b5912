package claude

import (
	"bytes"
	"encoding/json"
	"strings"
)

// event is any line that Claude Code prints with --output-format=stream-json. Kinds and fields that are not here are ignored.
type event struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Message   struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
		Usage   usage           `json:"usage"`
	} `json:"message"`
	// APIError: the message is not the model's, but an error.
	APIError bool `json:"is_api_error_message"`

	// Of system: api_retry and permission_denied.
	Attempt     int     `json:"attempt"`
	RetryDelay  float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
	Class       string  `json:"error"`
	ToolName    string  `json:"tool_name"`
	ToolUseID   string  `json:"tool_use_id"`

	// Of rate_limit_event.
	Limit rateLimit `json:"rate_limit_info"`

	result
}

// result holds the fields of an event of type result, the last one of a call.
type result struct {
	IsError     bool    `json:"is_error"`
	Answer      string  `json:"result"`
	Reason      string  `json:"terminal_reason"`
	Status      int     `json:"api_error_status"`
	ErrorKind   string  `json:"api_error"`
	TotalCost   float64 `json:"total_cost_usd"`
	Usage       usage   `json:"usage"`
	Models      models  `json:"modelUsage"`
	ModelsSince models  `json:"model_usage_since_last_result"`
	Denials     []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
	// Errors say why a conversation did not begin.
	Errors []string `json:"errors"`
}

// rateLimit is the state of a subscription's limits.
type rateLimit struct {
	Status   string `json:"status"` // allowed, allowed_warning or rejected
	ResetsAt int64  `json:"resetsAt"`
}

// block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks returns the parts of a message's content, which is a list or a plain text.
func blocks(content json.RawMessage) (list []block) {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return []block{{Type: "text", Text: plain}}
	}
	// Parts of another form are ignored, and the others are read.
	_ = json.Unmarshal(content, &list)
	return list
}

// text returns all the text of a content.
func text(content json.RawMessage) string {
	var parts []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// wanted returns a tool's input as a person wants to see it: the command, or else all of it.
func wanted(input json.RawMessage) string {
	var shell struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &shell) == nil && shell.Command != "" {
		return shell.Command
	}
	var short bytes.Buffer
	if json.Compact(&short, input) != nil {
		return ""
	}
	return short.String()
}
