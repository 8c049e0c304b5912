package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"signalbox/internal/agent/modeltest"
)

// companysWay is how people lead an agent to their company's gateway: the variables of its address and of its key, and the path
// below the address.
type companysWay struct{ base, path, key string }

var companysWays = map[string]companysWay{
	"claude": {"ANTHROPIC_BASE_URL", "", "ANTHROPIC_AUTH_TOKEN"},
	"codex":  {"OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"},
	"gemini": {"GOOGLE_GEMINI_BASE_URL", "", "GEMINI_API_KEY"},
}

const (
	companysGateway  = "models.corp.test"
	companysPassword = "hunter2-of-the-proxy"
)

// company has a gateway with a certificate of its own, which is reached through a proxy that wants a password.
type company struct {
	model   *modeltest.Server
	through atomic.Int64 // connections that the proxy made
	env     []string     // the variables of a person at work there
}

func newCompany(t *testing.T, way companysWay, config modeltest.Config) *company {
	t.Helper()
	c := &company{model: modeltest.New(config)}
	authority := filepath.Join(t.TempDir(), "corp", "ca.pem")
	serving := http.NewServeMux()
	serving.Handle("/llm/", http.StripPrefix("/llm", c.model))
	serving.HandleFunc("GET /llm"+way.path, http.NotFound) // whether anything answers is asked first, without the key
	tunnels := impersonate(t, authority, []string{companysGateway}, serving)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		if _, got, _ := user.BasicAuth(); r.Method != http.MethodConnect || r.Host != companysGateway+":443" || got != companysPassword {
			t.Errorf("the proxy was asked %s %s with %q", r.Method, r.Host, got)
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		c.through.Add(1)
		tunnels(w, r)
	}))
	t.Cleanup(proxy.Close)
	c.env = append([]string{way.base + "=https://" + companysGateway + "/llm" + way.path, way.key + "=" + apiKey, "NODE_EXTRA_CA_CERTS=" + authority, "NO_PROXY=", "no_proxy=",
		"HTTPS_PROXY=http://me:" + companysPassword + "@" + strings.TrimPrefix(proxy.URL, "http://"), "HOME=" + t.TempDir(),
		"PATH=" + os.Getenv("SIGNALBOX_AGENTS") + ":" + os.Getenv("PATH")}, ada...)
	return c
}

// carryThrough carries request 1 where the agent finds its model by the variables that people have: no key and no password is inside.
func (p *project) carryThrough(c *company, agent string) {
	p.Helper()
	p.names(agent, "{}")
	run := p.startWith(c.env, "run", "1")
	p.mustCarry(run, c.model)
	if c.through.Load() == 0 || strings.Contains(run.out.String(), companysPassword) {
		p.Errorf("%d connections went through the proxy\n%s", c.through.Load(), run.out)
	}
}
