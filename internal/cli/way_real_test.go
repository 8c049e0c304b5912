package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
)

// A company's gateway has a certificate of its own and is reached through the company's proxy, which wants a password. Agents
// work through both by the variables that people have, and no key and no password is inside.
func TestRealAgentsWorkThroughACompanysGatewayAndProxy(t *testing.T) {
	t.Parallel()
	const gateway, password = "models.corp.test", "hunter2-of-the-proxy"
	for name, way := range map[string]struct{ driver, base, path, key string }{
		"claude": {"driver: claude, model: claude-sonnet-4-5", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_AUTH_TOKEN"},
		"codex":  {"driver: codex, model: gpt-5", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"},
		"gemini": {"driver: gemini, model: gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", "", "GEMINI_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := installedAgent(t, name)
			model := modeltest.New(modeltest.Config{Key: apiKey, Choose: playTheRole})
			authority := filepath.Join(t.TempDir(), "corp", "ca.pem")
			serving := http.NewServeMux()
			serving.Handle("/llm/", http.StripPrefix("/llm", model))
			serving.HandleFunc("GET /llm"+way.path, http.NotFound) // whether anything answers is asked first, without the key
			tunnels := impersonate(t, authority, []string{gateway}, serving)
			var through atomic.Int64
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				user := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
				if _, got, _ := user.BasicAuth(); r.Method != http.MethodConnect || r.Host != gateway+":443" || got != password {
					t.Errorf("the proxy was asked %s %s with %q", r.Method, r.Host, got)
					w.WriteHeader(http.StatusProxyAuthRequired)
					return
				}
				through.Add(1)
				tunnels(w, r)
			}))
			t.Cleanup(proxy.Close)
			p := newProject(t, 1)
			p.write(".signalbox/config.yaml", "tests: [for test in tests/*.sh; do sh \"$test\" || exit 1; done]\napprove: auto\nagents:\n"+
				fmt.Sprintf("  it: {%s, program: %q, prices: {%q: {input: 3, output: 15}}}\n", way.driver, program, strings.Fields(way.driver)[3]))
			p.git("commit", "--quiet", "-am", "Name the agent")
			c := p.startWith(append([]string{way.base + "=https://" + gateway + "/llm" + way.path, way.key + "=" + apiKey, "NODE_EXTRA_CA_CERTS=" + authority, "NO_PROXY=", "no_proxy=",
				"HTTPS_PROXY=http://me:" + password + "@" + strings.TrimPrefix(proxy.URL, "http://"), "HOME=" + t.TempDir(),
				"PATH=" + os.Getenv("SIGNALBOX_AGENTS") + ":" + os.Getenv("PATH")}, ada...), "run", "1")
			if got := c.waitFor(10 * time.Minute); got != 0 {
				p.tellTranscripts()
				t.Fatalf("exit code %d\n%s", got, c.out)
			}
			p.mustHaveUsed(model)
			if through.Load() == 0 || strings.Contains(c.out.String(), password) {
				t.Errorf("%d connections went through the proxy\n%s", through.Load(), c.out)
			}
		})
	}
}
