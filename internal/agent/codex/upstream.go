package codex

import (
	"fmt"
	"path"

	"github.com/pelletier/go-toml/v2"

	"signalbox/internal/agent"
)

// person is what the user's own config.toml says of where the model is.
type person struct {
	Provider  string              `toml:"model_provider"`
	BaseURL   string              `toml:"openai_base_url"`
	Profile   string              `toml:"profile"`
	Profiles  map[string]person   `toml:"profiles"`
	Providers map[string]provider `toml:"model_providers"`
}

type provider struct {
	BaseURL    string            `toml:"base_url"`
	EnvKey     string            `toml:"env_key"`
	Token      string            `toml:"experimental_bearer_token"`
	WireAPI    string            `toml:"wire_api"`
	Query      map[string]string `toml:"query_params"`
	Headers    map[string]string `toml:"http_headers"`
	EnvHeaders map[string]string `toml:"env_http_headers"`
}

const settingsFile = ".codex/config.toml"

// Upstream returns where the user's own Codex finds its model. Newer versions ignore OPENAI_BASE_URL, but a user who sets it means it.
func Upstream(p agent.Person, _ string) (u agent.Upstream) {
	text, err := p.File(settingsFile)
	var settings person
	if err == nil {
		err = toml.Unmarshal(text, &settings)
	}
	if err != nil {
		return agent.Upstream{Problem: fmt.Sprintf("~/%s cannot be read: %v", path.Clean(settingsFile), err), Next: "fix the file"}
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} {
		if value := p.Env(name); value != "" && u.URL == "" {
			u.URL, u.From = value, name
		}
	}
	if own := settings.Profiles[settings.Profile]; own.Provider != "" {
		settings.Provider = own.Provider
	}
	if u.URL != "" || settings.Provider == "" || settings.Provider == "openai" {
		if u.URL == "" && settings.BaseURL != "" {
			u.URL, u.From = settings.BaseURL, "~/"+settingsFile+" (openai_base_url)"
		}
		u.Keyed(p, "OPENAI_API_KEY")
		if u.URL != "" && u.Key == "" {
			u.Problem, u.Next = u.From+" names a server, and there is no key for it", "export OPENAI_API_KEY=… (any word, if it wants none)"
		}
		return u
	}
	return settings.Providers[settings.Provider].upstream(p, settings.Provider)
}

func (s provider) upstream(p agent.Person, name string) agent.Upstream {
	from := "~/" + settingsFile + " (model_providers." + name + ")"
	u := agent.Upstream{URL: s.BaseURL, From: from, Bearer: true, Headers: map[string]string{}}
	for header, value := range s.Headers {
		u.Headers[header] = value
	}
	for header, variable := range s.EnvHeaders {
		if value := p.Env(variable); value != "" {
			u.Headers[header] = value
		}
	}
	switch {
	case s.BaseURL == "":
		u.Problem, u.Next = from+" names no base_url that Signalbox could follow", "set agents.….url and agents.….key in the configuration, or model_provider to another"
	case s.WireAPI == "chat":
		u.Problem, u.Next = from+" speaks chat completions, which Codex no longer does", `set wire_api = "responses" there, or use a gateway that speaks it`
	case len(s.Query) > 0:
		u.Problem, u.Next = from+" wants query_params, which Signalbox does not pass on", "export OPENAI_BASE_URL and OPENAI_API_KEY of a gateway that needs none (Azure: the address that ends in /openai/v1)"
	case s.EnvKey != "" && p.Env(s.EnvKey) != "":
		u.Key, u.KeyFrom = p.Env(s.EnvKey), s.EnvKey
	case s.EnvKey != "":
		u.Problem, u.Next = from+" has its key in "+s.EnvKey+", which is not set", "export "+s.EnvKey+"=…"
	case s.Token != "":
		u.Key, u.KeyFrom = s.Token, from
	default: // a server that wants none, such as one on this machine
		u.Key, u.KeyFrom = "none", from
	}
	return u
}
