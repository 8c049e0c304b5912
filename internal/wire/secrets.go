package wire

import (
	"net/url"
	"os"
	"slices"
	"strings"
)

// secretWords are parts of names of variables that hold secrets more often than not.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"}

// Secrets are the values that must not be written or shown, by the names of their variables.
func (p *Project) Secrets() map[string]string {
	secrets := SecretsOf(os.Environ(), p.Config.Secrets)
	if p.Opener == nil { // documents alone are shown
		return secrets
	}
	for _, name := range proxyVariables { // passwords in addresses, which no log may have
		value := p.Env(name)
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				secrets[name+" (password)"] = password
			}
		}
	}
	for name, c := range p.Config.Agents { // a key may be in a file of the user's own
		if v, known := VendorOf(c.Driver); known {
			if w := p.WayOf(v, c); len(w.value) >= leastKey {
				secrets["agents."+name+".key"] = w.value
			}
		}
	}
	return secrets
}

// proxyVariables are those that name a proxy.
var proxyVariables = []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"}

// leastKey is shorter than any key, and longer than what people put where none is wanted.
const leastKey = 8

// SecretsOf are those of the variables that are secrets by their names, or that are named.
func SecretsOf(variables, names []string) map[string]string {
	secrets := map[string]string{}
	for _, pair := range variables {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && (slices.Contains(names, name) || secretName(name)) {
			secrets[name] = value
		}
	}
	return secrets
}

// secretName reports whether a variable, or what is assigned to one, is likely to be a secret by its name.
func secretName(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	return strings.HasSuffix(name, "_KEY") || slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}
