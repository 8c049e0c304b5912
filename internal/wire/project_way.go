package wire

import (
	"net/url"
	"slices"

	"signalbox/internal/agent"
	"signalbox/internal/config"
)

// Way is how an agent reaches its model with a key. The configuration counts before the user's own variables and settings, and
// these before the vendor's usual server.
type Way struct {
	Url string
	// Place is the setting that names Url; empty if it is the vendor's own. from is the same if the setting is the user's own and not
	// the configuration's.
	Place, from string
	// key names what holds the key, value is the key itself.
	key, value string
	bearer     bool
	headers    map[string]string
	// Problem says why the user's settings can't be followed, Next what to type.
	Problem, Next string
}

// WayOf is the way of an agent with this configuration.
func (a *Opener) WayOf(v vendor, c config.Agent) Way {
	s := v.Server(c)
	w := Way{Url: s.url, key: s.Key}
	if c.URL != "" {
		w.Place = "url in " + config.Name
	}
	if s.Key != "" {
		w.value = a.Env(s.Key)
	}
	if c.URL != "" || c.Login == config.LoginOwn { // the user's own gateway and its key belong to another way
		return w
	}
	own := v.upstream(agent.Person{Home: a.Env("HOME"), Env: a.Env}, c.Model)
	if v.models == "" && own.URL == "" && own.Problem == "" { // it reads the variables of the model's vendor, named in "vendor/model"
		own = agent.Upstream{}
		key := v.Server(config.Agent{Model: c.Model}).Key
		if i := slices.IndexFunc(Vendors, func(other vendor) bool { return other.models != "" && servers[other.models].Key == key }); i >= 0 {
			own = Vendors[i].upstream(agent.Person{Env: a.Env}, "")
		}
	}
	if own.Problem != "" {
		if c.Key == "" {
			w.Problem, w.Next = own.Problem, own.Next
		}
		return w
	}
	if own.URL != "" {
		w.Url, w.Place, w.from, w.headers = own.URL, own.From, own.From, own.Headers
	}
	if c.Key == "" && own.Key != "" {
		w.key, w.value, w.bearer = own.KeyFrom, own.Key, own.Bearer
	}
	return w
}

// ShownURL is an address without the parts that may be secret.
func ShownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
