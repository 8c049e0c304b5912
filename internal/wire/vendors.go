package wire

import (
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/claude"
	"signalbox/internal/agent/codex"
	"signalbox/internal/agent/gemini"
	"signalbox/internal/agent/login"
	"signalbox/internal/agent/opencode"
	"signalbox/internal/agent/pi"
	"signalbox/internal/config"
)

// vendor is a known agent.
type vendor struct {
	Driver string
	// Title is its name for people, Install the command that installs it.
	Title, Install string
	// Oldest is the oldest version that knows our arguments; empty if any does.
	Oldest string
	// models names the server of its models; empty if the model's name says it, before a slash.
	models string
	// login is its own login, which it has once the login's file exists.
	login login.Login
	// logsIn are the arguments that log in, hosts the servers that use and renew that login.
	logsIn string
	hosts  []string
	// reckons: it tells the cost of a call when the call ends.
	reckons bool
	// upstream is the server that the user's own settings name.
	upstream func(p agent.Person, model string) agent.Upstream
	Build    func(agent.Settings) (agent.Agent, error)
}

var Vendors = []vendor{
	{config.DriverClaude, "Claude Code", claude.Install, claude.Oldest, "anthropic", claudeLogin, "/login", []string{"api.anthropic.com", "platform.claude.com"}, true, claude.Upstream,
		func(s agent.Settings) (agent.Agent, error) { return claude.New(s) }},
	{config.DriverCodex, "Codex", codex.Install, codex.Oldest, "openai", codexLogin, "login", []string{"chatgpt.com", "auth.openai.com"}, false, codex.Upstream,
		func(s agent.Settings) (agent.Agent, error) { return codex.New(s) }},
	{config.DriverOpencode, "opencode", opencode.Install, opencode.Oldest, "", opencodeLogin, "auth login", nil, false, opencode.Upstream,
		func(s agent.Settings) (agent.Agent, error) { return opencode.New(s) }},
	{config.DriverPi, "pi", pi.Install, pi.Oldest, "", piLogin, "", nil, false, pi.Upstream,
		func(s agent.Settings) (agent.Agent, error) { return pi.New(s) }},
	{config.DriverGemini, "Gemini CLI", gemini.Install, gemini.Oldest, "google", geminiLogin, "", nil, false, gemini.Upstream,
		func(s agent.Settings) (agent.Agent, error) { return gemini.New(s) }},
}

// The logins of agents, and which of the user's settings count inside. Everything else stays outside: conversations with other
// projects, histories, caches, and what a later version keeps there.
var (
	claudeLogin = login.Login{Folder: ".claude", File: ".credentials.json", Settings: []string{"settings.json", "CLAUDE.md",
		"agents", "commands", "hooks", "output-styles", "plugins", "rules", "skills"}}
	codexLogin = login.Login{Folder: ".codex", File: "auth.json", Settings: []string{"config.toml", "*.config.toml", "AGENTS.md",
		"AGENTS.override.md", "hooks.json", "hooks", "plugins", "prompts", "rules", "skills"}}
	opencodeLogin = login.Login{Folder: ".local/share/opencode", File: "auth.json"}
	piLogin       = login.Login{Folder: ".pi", File: "agent/auth.json", Settings: []string{"agent/settings.json", "agent/models.json", "agent/*.md",
		"agent/extensions", "agent/git", "agent/npm", "agent/prompts", "agent/skills", "agent/themes", "agent/tools"}}
	geminiLogin = login.Login{Folder: ".gemini", File: "oauth_creds.json", Settings: []string{"settings.json", "google_accounts.json",
		"installation_id", "trustedFolders.json", ".env", "*.md", "agents", "commands", "extensions", "policies", "skills"}}
)

func VendorOf(driver string) (vendor, bool) {
	for _, v := range Vendors {
		if v.Driver == driver {
			return v, true
		}
	}
	return vendor{}, false
}

// server is where a vendor's models are and which variable holds the key.
type server struct{ url, Key string }

var servers = map[string]server{
	"anthropic": {"https://api.anthropic.com", "ANTHROPIC_API_KEY"},
	"openai":    {"https://api.openai.com/v1", "OPENAI_API_KEY"},
	"google":    {"https://generativelanguage.googleapis.com", "GEMINI_API_KEY"},
}

// Server is the server of the agent's model: the vendor's, unless the configuration names another.
func (v vendor) Server(c config.Agent) server {
	whose := v.models
	if whose == "" {
		whose, _, _ = strings.Cut(c.Model, "/")
	}
	s := servers[whose]
	if c.URL != "" {
		s.url = c.URL
	}
	if c.Key != "" {
		s.Key = c.Key
	}
	return s
}

// CostTold says what a budget of money is worth if its models have no prices.
func (v vendor) CostTold() string {
	if v.reckons {
		return v.Title + " tells its cost only when a call ends, and never in a session at its own interface, so a budget of money can't stop it in between"
	}
	return v.Title + " tells no cost, so no budget of money can limit it"
}
