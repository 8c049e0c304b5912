package wire

import (
	"net/url"

	"signalbox/internal/agent"
	"signalbox/internal/config"
)

// Way is how an agent's model is reached with a key: what the configuration says, else what the user's own
// variables and settings say, else the vendor's usual.
type Way struct {
	Url string
	// from says where the user named url; empty of the configuration's and of the vendor's own. configured: it is the configuration's.
	from       string
	configured bool
	// key is what holds the key, value the key itself.
	key, value string
	bearer     bool
	headers    map[string]string
	// Problem says why the user's settings cannot be followed, next what to type.
	Problem, Next string
}

// Place is the setting that names the address; empty if none does.
func (w Way) Place() string {
	if w.configured {
		return "url in " + config.Name
	}
	return w.from
}

func (a *Opener) WayOf(v vendor, c config.Agent) Way {
	s := v.Server(c)
	w := Way{Url: s.url, key: s.Key, configured: c.URL != ""}
	if s.Key != "" {
		w.value = a.Env(s.Key)
	}
	if c.URL != "" || c.Login == config.LoginOwn { // the user's gateway and its key are for another way
		return w
	}
	own := v.upstream(agent.Person{Home: a.Env("HOME"), Env: a.Env}, c.Model)
	if v.models == "" && own.URL == "" && own.Problem == "" { // it takes the variables of whose model it uses
		own = v.byModel(c.Model).upstream(agent.Person{Env: a.Env}, "")
	}
	if own.Problem != "" {
		if c.Key == "" {
			w.Problem, w.Next = own.Problem, own.Next
		}
		return w
	}
	if own.URL != "" {
		w.Url, w.from, w.headers = own.URL, own.From, own.Headers
	}
	if c.Key == "" && own.Key != "" {
		w.key, w.value, w.bearer = own.KeyFrom, own.Key, own.Bearer
	}
	return w
}

// byModel is the vendor whose variables say where the model "vendor/model" is.
func (v vendor) byModel(model string) vendor {
	for _, other := range Vendors {
		if other.models != "" && v.Server(config.Agent{Model: model}).Key == servers[other.models].Key {
			return other
		}
	}
	return vendor{upstream: func(agent.Person, string) agent.Upstream { return agent.Upstream{} }}
}

// ShownURL is an address without what may be secret in it.
func ShownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
