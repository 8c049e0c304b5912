package wire

import (
	"net/url"
	"os"
	"slices"
	"strings"
)

// secretWords are parts of a variable's name that usually mean a secret.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"}

// Secrets are the values that must not be written or shown, by the names of their variables.
func (p *Project) Secrets() map[string]string {
	secrets := SecretsOf(os.Environ(), p.Config.Secrets)
	if p.Opener == nil { // only documents are open
		return secrets
	}
	for _, name := range proxyVariables { // passwords in their addresses
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
	for name, c := range p.Config.Agents { // a key may be in one of the user's own files
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

// leastKey is shorter than any key, and longer than what people write where no key is needed.
const leastKey = 8

// SecretsOf are those of the variables that names lists or whose own names say that they hold secrets.
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

// secretName reports whether a variable, or an assignment to one, holds a secret by its name.
func secretName(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	return strings.HasSuffix(name, "_KEY") || slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}
