package cli

import (
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/claude"
	"signalbox/internal/agent/codex"
	"signalbox/internal/agent/gemini"
	"signalbox/internal/agent/opencode"
	"signalbox/internal/agent/pi"
	"signalbox/internal/config"
)

// vendor is an agent that is known by name.
type vendor struct {
	driver string
	// title is its name for people, install how a person gets it.
	title, install string
	// models is whose server it asks; empty where the model's name says that, before a slash.
	models string
	// login is the file, below HOME, that is there once it has a login of its own; folders are what it
	// then needs of HOME.
	login   string
	folders []string
	// logsIn are the arguments by which a person logs in, hosts where that login is used and renewed.
	logsIn string
	hosts  []string
	// reckons: it tells what a call cost.
	reckons bool
	build   func(agent.Settings) (agent.Agent, error)
}

var vendors = []vendor{
	{config.DriverClaude, "Claude Code", "npm install -g @anthropic-ai/claude-code", "anthropic", ".claude/.credentials.json", []string{".claude"}, "/login", []string{"api.anthropic.com", "platform.claude.com"}, true,
		func(s agent.Settings) (agent.Agent, error) { return claude.New(s) }},
	{config.DriverCodex, "Codex", "npm install -g @openai/codex", "openai", ".codex/auth.json", []string{".codex"}, "login", []string{"chatgpt.com", "auth.openai.com"}, false,
		func(s agent.Settings) (agent.Agent, error) { return codex.New(s) }},
	{config.DriverOpencode, "opencode", "npm install -g opencode-ai", "", ".local/share/opencode/auth.json", []string{".local/share/opencode"}, "auth login", nil, false,
		func(s agent.Settings) (agent.Agent, error) { return opencode.New(s) }},
	{config.DriverPi, "pi", "npm install -g @earendil-works/pi-coding-agent", "", ".pi/agent/auth.json", []string{".pi"}, "", nil, false,
		func(s agent.Settings) (agent.Agent, error) { return pi.New(s) }},
	{config.DriverGemini, "Gemini CLI", "npm install -g @google/gemini-cli", "google", ".gemini/oauth_creds.json", []string{".gemini"}, "", nil, false,
		func(s agent.Settings) (agent.Agent, error) { return gemini.New(s) }},
}

func vendorOf(driver string) (vendor, bool) {
	for _, v := range vendors {
		if v.driver == driver {
			return v, true
		}
	}
	return vendor{}, false
}

// server is where a vendor's models are and which variable holds the key.
type server struct{ url, key string }

var servers = map[string]server{
	"anthropic": {"https://api.anthropic.com", "ANTHROPIC_API_KEY"},
	"openai":    {"https://api.openai.com/v1", "OPENAI_API_KEY"},
	"google":    {"https://generativelanguage.googleapis.com", "GEMINI_API_KEY"},
}

// server is where the agent's model is, with what the configuration says in the place of the usual.
func (v vendor) server(c config.Agent) server {
	whose := v.models
	if whose == "" {
		whose, _, _ = strings.Cut(c.Model, "/")
	}
	s := servers[whose]
	if c.URL != "" {
		s.url = c.URL
	}
	if c.Key != "" {
		s.key = c.Key
	}
	return s
}
