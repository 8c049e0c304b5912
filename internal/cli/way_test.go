package cli_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// theirs are settings that people have, and what each leads an agent to.
var theirs = []struct {
	name, agent, model string
	env                []string
	files              map[string]string
	// says is what doctor says of the agent, next what to type where it refuses.
	says, next string
}{
	{name: "a gateway in the shell", agent: "claude", env: []string{"ANTHROPIC_BASE_URL=SERVER/llm", "ANTHROPIC_AUTH_TOKEN=sk-gateway-0123456789"},
		says: "key in ANTHROPIC_AUTH_TOKEN, which stays outside; its model at SERVER/llm (ANTHROPIC_BASE_URL)"},
	{name: "a gateway in Claude Code's settings", agent: "claude",
		files: map[string]string{".claude/settings.json": `{"env": {"ANTHROPIC_BASE_URL": "SERVER/llm", "ANTHROPIC_AUTH_TOKEN": "sk-gateway-0123456789"}}`},
		says:  "its model at SERVER/llm (~/.claude/settings.json (env.ANTHROPIC_BASE_URL))"},
	{name: "a gateway without a key", agent: "claude", env: []string{"ANTHROPIC_BASE_URL=SERVER"},
		says: "ANTHROPIC_BASE_URL names a server, and there is no key for it", next: "export ANTHROPIC_AUTH_TOKEN=…"},
	{name: "a helper that makes keys", agent: "claude", files: map[string]string{".claude/settings.json": `{"apiKeyHelper": "vault read key"}`},
		says: "apiKeyHelper in ~/.claude/settings.json is a program that makes keys", next: `export ANTHROPIC_AUTH_TOKEN="$(vault read key)"`},
	{name: "Bedrock", agent: "claude", env: []string{"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=sk-ant-0123456789"},
		says: "CLAUDE_CODE_USE_BEDROCK leads Claude Code to Amazon Bedrock", next: "unset CLAUDE_CODE_USE_BEDROCK"},
	{name: "Vertex in Claude Code's settings", agent: "claude", files: map[string]string{".claude/settings.json": `{"env": {"CLAUDE_CODE_USE_VERTEX": "true"}}`},
		says: "(env.CLAUDE_CODE_USE_VERTEX) leads Claude Code to Google Vertex AI", next: "ANTHROPIC_BASE_URL"},
	{name: "a server that is not there", agent: "claude", env: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:1", "ANTHROPIC_AUTH_TOKEN=sk-gateway-0123456789"},
		says: "its model at http://127.0.0.1:1 (ANTHROPIC_BASE_URL), unencrypted: reach http://127.0.0.1:1", next: "correct the address in ANTHROPIC_BASE_URL"},
	{name: "a gateway for Codex", agent: "codex", env: []string{"OPENAI_BASE_URL=SERVER/v1", "OPENAI_API_KEY=sk-gateway-0123456789"},
		says: "its model at SERVER/v1 (OPENAI_BASE_URL)"},
	{name: "its older name", agent: "codex", env: []string{"OPENAI_API_BASE=SERVER/v1", "OPENAI_API_KEY=sk-gateway-0123456789"},
		says: "its model at SERVER/v1 (OPENAI_API_BASE)"},
	{name: "a provider of Codex", agent: "codex", env: []string{"CORP_KEY=sk-gateway-0123456789"},
		files: map[string]string{".codex/config.toml": "model_provider = \"corp\"\n[model_providers.corp]\nbase_url = \"SERVER/v1\"\nenv_key = \"CORP_KEY\"\n"},
		says:  "key in CORP_KEY, which stays outside; its model at SERVER/v1 (~/.codex/config.toml (model_providers.corp))"},
	{name: "a provider of Codex whose key is not set", agent: "codex",
		files: map[string]string{".codex/config.toml": "model_provider = \"corp\"\n[model_providers.corp]\nbase_url = \"SERVER/v1\"\nenv_key = \"CORP_KEY\"\n"},
		says:  "has its key in CORP_KEY, which is not set", next: "export CORP_KEY=…"},
	{name: "Azure", agent: "codex",
		files: map[string]string{".codex/config.toml": "model_provider = \"azure\"\n[model_providers.azure]\nbase_url = \"SERVER\"\nquery_params = {api-version = \"2025\"}\n"},
		says:  "wants query_params", next: "OPENAI_BASE_URL"},
	{name: "a provider of opencode", agent: "opencode", model: "corp/m1", env: []string{"CORP_KEY=sk-gateway-0123456789"},
		files: map[string]string{".config/opencode/opencode.json": `{"provider": {"corp": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "SERVER/v1", "apiKey": "{env:CORP_KEY}"}}}, /* mine */ }`},
		says:  "key in CORP_KEY, which stays outside; its model at SERVER/v1 (~/.config/opencode/opencode.json (provider.corp))"},
	{name: "the shell's gateway for opencode", agent: "opencode", model: "anthropic/m1", env: []string{"ANTHROPIC_BASE_URL=SERVER", "ANTHROPIC_AUTH_TOKEN=sk-gateway-0123456789"},
		says: "its model at SERVER (ANTHROPIC_BASE_URL)"},
	{name: "a provider of pi", agent: "pi", model: "corp/m1", env: []string{"CORP_KEY=sk-gateway-0123456789"},
		files: map[string]string{".pi/agent/models.json": `{"providers": {"corp": {"baseUrl": "SERVER/v1", "api": "openai-completions", "apiKey": "CORP_KEY"}}}`},
		says:  "its model at SERVER/v1 (~/.pi/agent/models.json (providers.corp))"},
	{name: "a gateway for Gemini CLI", agent: "gemini", env: []string{"GOOGLE_GEMINI_BASE_URL=SERVER", "GOOGLE_API_KEY=sk-gateway-0123456789"},
		says: "key in GOOGLE_API_KEY, which stays outside; its model at SERVER (GOOGLE_GEMINI_BASE_URL)"},
	{name: "a gateway in Gemini CLI's file", agent: "gemini",
		files: map[string]string{".gemini/.env": "GOOGLE_GEMINI_BASE_URL=\"SERVER\"\nexport GEMINI_API_KEY=sk-gateway-0123456789\n"},
		says:  "its model at SERVER (~/.gemini/.env (GOOGLE_GEMINI_BASE_URL))"},
	{name: "Vertex for Gemini CLI", agent: "gemini", env: []string{"GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_API_KEY=sk-gateway-0123456789"},
		says: "GOOGLE_GENAI_USE_VERTEXAI leads Gemini CLI to Google Vertex AI", next: "export GEMINI_API_KEY"},
}

func TestTheGatewaysThatPeopleHaveAreFoundAndFollowedOrRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler()) // any answer is one
	t.Cleanup(server.Close)
	for _, test := range theirs {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, home := newProject(t, 1), t.TempDir()
			p.agentOf(home, test.agent, test.model)
			for name, text := range test.files {
				writeFile(t, filepath.Join(home, name), strings.ReplaceAll(text, "SERVER", server.URL), 0o600)
			}
			env := []string{"HOME=" + home}
			for _, assignment := range test.env {
				env = append(env, strings.ReplaceAll(assignment, "=SERVER", "="+server.URL))
			}
			f, out := p.doctorOn("agent it", env)
			if want := strings.NewReplacer(" SERVER", " "+server.URL).Replace(test.says); !strings.Contains(f.Says, want) || !strings.Contains(f.Next, test.next) || (test.next == "") != (f.Verdict == "ok") {
				t.Errorf("doctor says %s %q, %q; want %q, %q", f.Verdict, f.Says, f.Next, want, test.next)
			}
			if strings.Contains(out, "sk-gateway") {
				t.Error("doctor tells the key")
			}
		})
	}
}

// A corporate proxy's password is in a variable; certificates are in files that commands inside must see.
func TestProxyAndCertificatesAreNamedWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	p, home := newProject(t, 1), t.TempDir()
	p.agentOf(home, "claude", "")
	bundle := filepath.Join(home, "corp.pem")
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	writeFile(t, bundle, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), 0o600)
	withKey := filepath.Join(home, "with-key.pem")
	writeFile(t, withKey, "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"+string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), 0o600)
	env := []string{"SSL_CERT_FILE=", "SSL_CERT_DIR=", "REQUESTS_CA_BUNDLE=", "GIT_SSL_CAINFO=", "AWS_CA_BUNDLE=", "PIP_CERT=", "NO_PROXY=", "no_proxy=",
		"HOME=" + home, "HTTPS_PROXY=http://me:hunter2222@127.0.0.1:1", "NODE_EXTRA_CA_CERTS=" + bundle, "CURL_CA_BUNDLE=" + withKey,
		"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_AUTH_TOKEN=sk-gateway-0123456789"}
	f, out := p.doctorOn("proxy", env)
	if !strings.Contains(f.Says, "go through http://127.0.0.1:1, ") || strings.Contains(out, "hunter2222") {
		t.Errorf("of the proxy doctor says %q\n%s", f.Says, out)
	}
	if f, _ := p.doctorOn("certificates", env); !strings.Contains(f.Says, "in NODE_EXTRA_CA_CERTS, which") {
		t.Errorf("of certificates doctor says %q", f.Says)
	}
	if f, _ := p.doctorOn("agent it", env); f.Verdict != "ok" { // loopback needs no proxy, and the certificate is believed
		t.Errorf("of the agent doctor says %s %q", f.Verdict, f.Says)
	}
	inside := p.inside(env[:12:12], `cat "$NODE_EXTRA_CA_CERTS"; echo "bundle: $CURL_CA_BUNDLE"; ls `+withKey+` 2>/dev/null; env | grep hunter; true`)
	if !strings.Contains(inside, "BEGIN CERTIFICATE") || !strings.Contains(inside, "bundle:") || strings.Contains(inside, withKey) || strings.Contains(inside, "hunter") {
		t.Errorf("inside there is %s", inside)
	}
	untrusted := append(slices.Clone(env), "NODE_EXTRA_CA_CERTS=", "CURL_CA_BUNDLE=")
	if f, _ := p.doctorOn("agent it", untrusted); f.Verdict != "missing" || !strings.Contains(f.Says, "name that in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS") {
		t.Errorf("without its certificate doctor says %s %q", f.Verdict, f.Says)
	}
}

// Whatever kind of proxy is named, it is spoken with in its own way, or refused before anything is paid for.
func TestAProxyIsFollowedOrRefused(t *testing.T) {
	t.Parallel()
	p, home := newProject(t, 1), t.TempDir()
	p.agentOf(home, "claude", "")
	for address, known := range map[string]bool{"http://127.0.0.1:1": true, "https://127.0.0.1:1": true, "socks5://me:hunter2222@127.0.0.1:1": true,
		"socks5h://127.0.0.1:1": true, "127.0.0.1:1": true, "socks4://127.0.0.1:1": false, "ftp://127.0.0.1:1": false} {
		env := []string{"HOME=" + home, "HTTPS_PROXY=", "https_proxy=", "NO_PROXY=", "no_proxy=", "ALL_PROXY=" + address}
		f, out := p.doctorOn("proxy", env)
		if (f.Verdict == "ok") != known || f.Verdict == "" || strings.Contains(out, "hunter2222") || !known && !strings.Contains(f.Next, "socks5://") {
			t.Errorf("%s: doctor says %s %q, %q", address, f.Verdict, f.Says, f.Next)
		}
		if known {
			continue
		}
		c := p.startWith(env, "run", "1", "--agent", "true")
		if c.wait(); !strings.Contains(c.out.String(), "is not the address of a known kind of proxy") || len(p.stages()) > 0 {
			t.Errorf("%s: a run said %s", address, c.out)
		}
	}
}

// inside is what a command prints in a run's environment.
func (p *project) inside(env []string, command string) string {
	p.Helper()
	p.write("look.sh", "#!/bin/sh\n{ "+command+"; } >seen.txt\n")
	if err := os.Chmod(filepath.Join(p.dir, "look.sh"), 0o700); err != nil {
		p.Fatal(err)
	}
	p.git("add", "look.sh")
	p.git("commit", "--quiet", "-am", "Look")
	c := p.startWith(slices.Concat(env, ada), "run", "1", "--agent", "./look.sh")
	c.wait()
	run := p.stage(1)
	if run.State != workflow.NeedsInput || run.Error == nil || run.Error.ReasonCode != "APPROVAL_REQUIRED" {
		p.Fatalf("it did not wait for an approval:\n%s", c.out)
	}
	return p.git("show", run.Details.Branch+":seen.txt")
}

// agentOf configures the agent "it", whose program only tells a version.
func (p *project) agentOf(home, driver, model string) {
	p.Helper()
	path := filepath.Join(home, "bin", driver)
	writeFile(p, path, "#!/bin/sh\necho 99.0.0\n", 0o700)
	if model != "" {
		model = ", model: " + model
	}
	p.write(".signalbox/config.yaml", "tests: [\"true\"]\nagents: {it: {driver: "+driver+", program: "+path+model+"}}\n")
}

// doctorFinding is what doctor says of one thing.
type doctorFinding struct{ What, Verdict, Says, Next string }

func (p *project) doctorOn(what string, env []string) (doctorFinding, string) {
	p.Helper()
	c := exec.CommandContext(p.Context(), program(p), "doctor", "--json")
	c.Dir, c.Env = p.dir, append(os.Environ(), env...)
	out, err := c.Output()
	var findings []doctorFinding
	if e := json.Unmarshal(out, &findings); e != nil {
		p.Fatalf("%v, %v\n%s", err, e, out)
	}
	for _, f := range findings {
		if f.What == what {
			return f, string(out)
		}
	}
	p.Fatalf("doctor says nothing of %s:\n%s", what, out)
	return doctorFinding{}, ""
}

func writeFile(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
