package opencode

import (
	"strings"

	"signalbox/internal/agent"
)

// files may hold the user's own settings; a later one takes precedence over an earlier one.
var files = []string{".config/opencode/config.json", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"}

type provider struct {
	NPM     string `json:"npm"`
	Options struct {
		BaseURL string            `json:"baseURL"`
		Key     string            `json:"apiKey"`
		Headers map[string]string `json:"headers"`
	} `json:"options"`
}

// Upstream returns where the user's own opencode finds the model "provider/model".
func Upstream(p agent.Person, model string) (u agent.Upstream) {
	name, _, _ := strings.Cut(model, "/")
	for _, file := range files {
		var settings struct {
			Providers map[string]provider `json:"provider"`
		}
		if err := p.JSON(file, &settings); err != nil {
			return agent.Upstream{Problem: err.Error(), Next: "fix the file"}
		}
		if own, ok := settings.Providers[name]; ok && (own.Options.BaseURL != "" || own.Options.Key != "") {
			u = own.upstream(p, name, "~/"+file+" (provider."+name+")")
		}
	}
	return u
}

func (s provider) upstream(p agent.Person, name, from string) agent.Upstream {
	u := agent.Upstream{URL: value(p, s.Options.BaseURL), From: from, Headers: map[string]string{}}
	for header, text := range s.Options.Headers {
		u.Headers[header] = value(p, text)
	}
	if variable, ok := strings.CutPrefix(s.Options.Key, "{env:"); ok {
		u.KeyFrom = strings.TrimSuffix(variable, "}")
		u.Key = p.Env(u.KeyFrom)
	} else if s.Options.Key != "" {
		u.Key, u.KeyFrom = s.Options.Key, from
	}
	speaks := s.NPM == "" || name == "anthropic" && s.NPM == "@ai-sdk/anthropic" || name != "anthropic" && strings.HasPrefix(s.NPM, "@ai-sdk/openai")
	switch {
	case strings.Contains(u.URL+s.Options.Key, "{file:"):
		u.Problem, u.Next = from+" has its key in a file that Signalbox does not read", "export the key, and name it there as {env:NAME}"
	case !speaks:
		u.Problem, u.Next = from+" speaks by "+s.NPM+", which Signalbox does not know", "set npm there to @ai-sdk/openai-compatible, or name the provider anthropic"
	case u.Key == "" && u.KeyFrom != "":
		u.Problem, u.Next = from+" has its key in "+u.KeyFrom+", which is not set", "export "+u.KeyFrom+"=…"
	case u.Key == "" && u.URL != "" && name != "anthropic" && name != "openai" && name != "google":
		u.Key, u.KeyFrom = "none", from // a server that wants none, such as one on this machine
	}
	return u
}

// value returns a text of the settings with its variable replaced.
func value(p agent.Person, text string) string {
	before, rest, ok := strings.Cut(text, "{env:")
	name, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return text
	}
	return before + p.Env(name) + after
}
