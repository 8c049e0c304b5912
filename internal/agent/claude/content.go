package claude

import (
	"bytes"
	"encoding/json"
	"strings"
)

// blocks are the parts of a message's content, which is a list or a plain text.
func blocks(content json.RawMessage) (list []block) {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return []block{{Type: "text", Text: plain}}
	}
	// Parts of another shape are left out, and the others are read.
	_ = json.Unmarshal(content, &list)
	return list
}

// text is all the text of a content.
func text(content json.RawMessage) string {
	var parts []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// wanted is a tool's input as a person wants to see it: the command, or else all of it.
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

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
