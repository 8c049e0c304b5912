package modeltest

import (
	"encoding/json"
	"strings"
)

// API is a wire format.
type API string

const (
	Anthropic API = "anthropic" // Messages
	Responses API = "responses" // of OpenAI
	Chat      API = "chat"      // Chat Completions, of OpenAI
	Gemini    API = "gemini"
)

// Conversation is the content of a request, independent of its API.
type Conversation struct {
	API   API
	Model string
	// System is the system prompt with all instructions that came the same way.
	System string
	// Prompt is the text of the last message that is the user's own: no result of a tool.
	Prompt string
	// Results are the results of the calls since then, as text, in order.
	Results []string
	// Tools are those that the agent offers. A request without any is for a title or a summary.
	Tools []Offer
	// Form is the schema of the answer, if it has to be JSON; nil if any text will do.
	Form   *Schema
	Stream bool
}

// Offer is a tool that an agent offers to the model.
type Offer struct {
	Name string
	// Schema is the JSON Schema of its arguments; empty where it takes plain text.
	Schema Schema
	// Namespace is OpenAI's namespace of the tool, if it is in one.
	Namespace string
}

// Schema is as much of a JSON Schema as is needed to call a tool.
type Schema struct {
	Properties map[string]struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// asks records a message of the user, which begins a new round of calls.
func (c *Conversation) asks(text string) { c.Prompt, c.Results = text, nil }

// instructs adds a part of the system prompt.
func (c *Conversation) instructs(text string) {
	if c.System != "" && text != "" {
		c.System += "\n"
	}
	c.System += text
}

// texts are the parts of a message's content, which is a string or a list of
// parts. Every API writes it so, with names of its own for the kinds of parts.
type texts []part

type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Content texts  `json:"content"` // of a tool_result
	// FunctionResponse is a result of a call at Gemini.
	FunctionResponse *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func (t *texts) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = texts{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(t))
}

func (t texts) String() string {
	var lines []string
	for _, p := range t {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}
