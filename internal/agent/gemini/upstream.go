package gemini

import (
	"strings"

	"signalbox/internal/agent"
)

// Upstream returns where the user's own Gemini CLI finds its model.
func Upstream(p agent.Person, _ string) (u agent.Upstream) {
	var settings struct {
		Security struct {
			Auth struct {
				Selected string `json:"selectedType"`
			} `json:"auth"`
		} `json:"security"`
	}
	if err := p.JSON(".gemini/settings.json", &settings); err != nil {
		return agent.Upstream{Problem: err.Error(), Next: "fix the file"}
	}
	text, err := p.File(".gemini/.env")
	if err != nil {
		return agent.Upstream{Problem: err.Error(), Next: "fix the file"}
	}
	file := assignments(string(text))
	get := func(name string) (value, from string) {
		if value := p.Env(name); value != "" {
			return value, name
		}
		return file[name], "~/.gemini/.env (" + name + ")"
	}
	const vertex = "GOOGLE_GENAI_USE_VERTEXAI"
	value, from := get(vertex)
	cloud := (agent.Person{Env: func(string) string { return value }}).On(vertex)
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		if value, from := get(name); value != "" && u.Key == "" {
			u.Key, u.KeyFrom = value, from
		}
	}
	switch {
	case cloud:
		u.Problem = from + " leads Gemini CLI to Google Vertex AI, whose requests Signalbox cannot sign"
	case settings.Security.Auth.Selected == "vertex-ai" && u.Key == "":
		u.Problem = "~/.gemini/settings.json (security.auth.selectedType) leads Gemini CLI to Google Vertex AI, whose requests Signalbox cannot sign"
	}
	if u.Problem != "" {
		u.Next = "export GEMINI_API_KEY of Google AI Studio and unset " + vertex + ", or name a gateway in GOOGLE_GEMINI_BASE_URL"
		return u
	}
	if value, from := get("GOOGLE_GEMINI_BASE_URL"); value != "" {
		u.URL, u.From = value, from
		if u.Key == "" {
			u.Problem, u.Next = from+" names a server, and there is no key for it", "export GEMINI_API_KEY=… (any word, if it wants none)"
		}
	}
	return u
}

// assignments returns the variables of a file of NAME=value lines.
func assignments(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if ok && !strings.HasPrefix(name, "#") {
			values[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return values
}
