package pi

import (
	"strings"

	"signalbox/internal/agent"
)

const modelsFile = ".pi/agent/models.json"

type provider struct {
	BaseURL string            `json:"baseUrl"`
	API     string            `json:"api"`
	Key     string            `json:"apiKey"`
	Headers map[string]string `json:"headers"`
}

// Upstream returns where the user's own pi finds the model "provider/model".
func Upstream(p agent.Person, model string) (u agent.Upstream) {
	name, _, _ := strings.Cut(model, "/")
	var settings struct {
		Providers map[string]provider `json:"providers"`
	}
	if err := p.JSON(modelsFile, &settings); err != nil {
		return agent.Upstream{Problem: err.Error(), Next: "fix the file"}
	}
	s, ok := settings.Providers[name]
	if !ok || s.BaseURL == "" {
		return u
	}
	from := "~/" + modelsFile + " (providers." + name + ")"
	u = agent.Upstream{URL: s.BaseURL, From: from, Headers: s.Headers}
	_, known := paths[name]
	switch own := p.Env(s.Key); {
	case strings.HasPrefix(s.Key, "!"):
		u.Problem, u.Next = from+" has a program make its key, which Signalbox does not start", "export the key, and name its variable there as apiKey"
	case !known && s.API != "" && s.API != "openai-completions":
		u.Problem, u.Next = from+" speaks "+s.API+", and Signalbox has pi speak openai-completions to other servers", `set "api": "openai-completions" there, or name the provider anthropic, openai or google`
	case own != "":
		u.Key, u.KeyFrom = own, s.Key
	case s.Key == "" && known:
	case s.Key == "":
		u.Key, u.KeyFrom = "none", from
	default: // the key itself
		u.Key, u.KeyFrom = s.Key, from
	}
	return u
}
