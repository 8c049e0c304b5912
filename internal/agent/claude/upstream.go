package claude

import (
	"signalbox/internal/agent"
)

// clouds are the switches to servers that want each request signed with the account's credentials.
var clouds = []struct{ variable, name string }{
	{"CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"}, {"CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"}, {"CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"},
}

const personFile = ".claude/settings.json"

// Upstream returns where the user's own Claude Code finds its model.
func Upstream(p agent.Person, _ string) (u agent.Upstream) {
	var settings struct {
		Env    map[string]string `json:"env"`
		Helper string            `json:"apiKeyHelper"`
	}
	if err := p.JSON(personFile, &settings); err != nil {
		return agent.Upstream{Problem: err.Error(), Next: "fix the file"}
	}
	// get returns a variable and its source: the shell's takes precedence over the file's.
	get := func(name string) (value, from string) {
		if value := p.Env(name); value != "" {
			return value, name
		}
		return settings.Env[name], "~/" + personFile + " (env." + name + ")"
	}
	for _, cloud := range clouds {
		value, from := get(cloud.variable)
		if (agent.Person{Env: func(string) string { return value }}).On(cloud.variable) {
			return agent.Upstream{From: from, Problem: from + " leads Claude Code to " + cloud.name + ", whose requests Signalbox cannot sign",
				Next: "export ANTHROPIC_BASE_URL and ANTHROPIC_AUTH_TOKEN of a gateway to it (LiteLLM, say), or unset " + cloud.variable}
		}
	}
	if value, from := get("ANTHROPIC_BASE_URL"); value != "" {
		u.URL, u.From = value, from
	}
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"} { // in its own order
		if value, from := get(name); value != "" && u.Key == "" {
			u.Key, u.KeyFrom, u.Bearer = value, from, name == "ANTHROPIC_AUTH_TOKEN"
		}
	}
	if value, _ := get("ANTHROPIC_CUSTOM_HEADERS"); value != "" {
		u.Headers = agent.Headers(value)
	}
	if settings.Helper != "" && u.Key == "" {
		u.Problem = "apiKeyHelper in ~/" + personFile + " is a program that makes keys, which Signalbox does not start"
		u.Next = `export ANTHROPIC_AUTH_TOKEN="$(` + settings.Helper + `)"`
	}
	if u.URL != "" && u.Key == "" && u.Problem == "" {
		u.Problem, u.Next = u.From+" names a server, and there is no key for it", "export ANTHROPIC_AUTH_TOKEN=… (any word, if it wants none), or unset ANTHROPIC_BASE_URL"
	}
	return u
}
