package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/workflow"
)

// subscription is a person's login as a real agent keeps it, made up: what lies in the agent's folder,
// led to the model at MODEL. Token is what the model's server is shown in the end.
type subscription struct {
	driver, folder, file, again string
	files                       map[string]string
	env                         string
	token                       string
	// environment is what the configuration says of it beside the model's address, to which its login is renewed.
	environment string
}

// idToken is signed by nobody.
func idToken(name string) string {
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(object{"alg": "RS256", "typ": "JWT"}) + "." + part(object{"exp": 4102444800, "email": "ada@example.org", "jti": name,
		"https://api.openai.com/auth": object{"chatgpt_plan_type": "plus", "chatgpt_account_id": "account-1", "chatgpt_user_id": "user-1"}}) +
		"." + base64.RawURLEncoding.EncodeToString([]byte("the signature of "+name))
}

func subscriptions() map[string]subscription {
	chatGPT := fmt.Sprintf(`{"OPENAI_API_KEY": null, "tokens": {"id_token": %q, "access_token": %q, "refresh_token": "rt_made-up-0123456789abcdef", "account_id": "account-1"}, "last_refresh": "2026-01-01T00:00:00Z"}`,
		idToken("first"), idToken("first"))
	const claudes = "sk-ant-oat01-made-up-the-second-0123456789abcdef"
	return map[string]subscription{
		"claude": {driver: "driver: claude, model: claude-sonnet-4-5", folder: ".claude", file: ".credentials.json", again: "/login", token: claudes,
			env: `, env: ["HTTPS_PROXY=MODEL", "NODE_EXTRA_CA_CERTS=AUTHORITY", ` + strings.Join(modeltest.Lean, ", ") + `]`, environment: "network: full, read: [AUTHORITY]",
			files: map[string]string{".claude/settings.json": `{"env": {"ANTHROPIC_BASE_URL": "MODEL"}}`, ".claude/CLAUDE.md": "Be kind.", ".claude/hooks/none.sh": "true",
				".claude/skills/fish/SKILL.md": "---\nname: fish\ndescription: Swims.\n---\nSwim.", ".claude/plugins/known_marketplaces.json": "{}", ".claude/agents/a.md": "---\nname: a\ndescription: Is asked.\n---\nAnswer.",
				".claude/.credentials.json": `{"claudeAiOauth": {"accessToken": "sk-ant-oat01-made-up-0123456789abcdef0123456789", "refreshToken": "sk-ant-ort01-made-up-0123456789abcdef0123456789", ` +
					`"expiresAt": 1000, "scopes": ["user:inference", "user:profile"], "subscriptionType": "max"}}`}},
		"codex": {driver: "driver: codex, model: gpt-5", folder: ".codex", file: "auth.json", again: "login", token: idToken("second"), environment: "allow: [ADDRESS]",
			env: `, env: ["CODEX_REFRESH_TOKEN_URL_OVERRIDE=MODEL/oauth/token"]`,
			files: map[string]string{".codex/auth.json": chatGPT, ".codex/AGENTS.md": "Be kind.", ".codex/prompts/swim.md": "Swim.", ".codex/plugins/none.txt": "",
				".codex/skills/fish/SKILL.md": "---\nname: fish\ndescription: Swims.\n---\nSwim.", ".codex/rules/default.rules": "prefix_rule(pattern=[\"ls\"], decision=\"allow\")\n",
				".codex/config.toml": "model_provider = \"plan\"\n[model_providers.plan]\nname = \"plan\"\n" +
					"base_url = \"MODEL/v1\"\nwire_api = \"responses\"\nrequires_openai_auth = true\n"}},
	}
}

// vendor renews logins, whose token becomes the second.
func vendor() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth/token", func(w http.ResponseWriter, _ *http.Request) { // Codex's
		_ = json.NewEncoder(w).Encode(object{"id_token": idToken("second"), "access_token": idToken("second"), "refresh_token": "rt_made-up-the-second-0123456789"})
	})
	mux.HandleFunc("POST /v1/oauth/token", func(w http.ResponseWriter, _ *http.Request) { // Claude Code's
		_ = json.NewEncoder(w).Encode(object{"token_type": "Bearer", "access_token": subscriptions()["claude"].token,
			"refresh_token": "sk-ant-ort01-made-up-the-second-0123456789", "expires_in": 1 << 30, "scope": "user:inference user:profile"})
	})
	return mux
}

// person is somebody with a HOME, and the model that their login leads to.
type person struct {
	*project
	subscription
	home  string
	model *modeltest.Server
}

// newPerson has an agent named for request 1 that uses its own login.
func newPerson(t *testing.T, name string, model modeltest.Config) *person {
	t.Helper()
	program := installedAgent(t, name)
	s := subscriptions()[name]
	p := &person{project: newProject(t, 1), subscription: s, home: t.TempDir(), model: modeltest.New(model)}
	authority := filepath.Join(t.TempDir(), "authority", "ca.pem")
	proxy := impersonate(t, authority, vendorsHosts, vendor())
	mux := http.NewServeMux()
	mux.Handle("/", p.model)
	mux.Handle("POST /oauth/token", vendor())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			proxy(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	here := strings.NewReplacer("MODEL", server.URL, "ADDRESS", strings.TrimPrefix(server.URL, "http://"), "AUTHORITY", authority)
	for path, text := range s.files {
		path = filepath.Join(p.home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(here.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, private := range []string{".claude.json", "private.txt"} {
		if err := os.WriteFile(filepath.Join(p.home, private), []byte(`{"of": "nobody else"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.write(".signalbox/config.yaml", fmt.Sprintf("tests: [for test in tests/*.sh; do sh \"$test\" || exit 1; done]\napprove: auto\nenvironment: {%s}\n"+
		"agents:\n  it: {%s, program: %q, login: own%s}\n", here.Replace(s.environment), s.driver, program, here.Replace(s.env)))
	p.git("commit", "--quiet", "-am", "Name the agent")
	return p
}

// does starts signalbox as the person.
func (p *person) does(args ...string) *child {
	p.Helper()
	return p.startWith(append([]string{"HOME=" + p.home, "PATH=" + os.Getenv("SIGNALBOX_AGENTS") + ":" + os.Getenv("PATH")}, ada...), args...)
}

// A subscription's login carries a request, over a kill in the middle: its folder is all that is seen of
// HOME, what the agent renews lands there, and nothing of it elsewhere.
func TestASubscriptionCarriesARequest(t *testing.T) {
	t.Parallel()
	for name, s := range subscriptions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			reached := make(chan struct{})
			homes := make(chan string, 1)
			p := newPerson(t, name, modeltest.Config{Key: s.token, Choose: func(c modeltest.Conversation) modeltest.Script {
				script := playTheRole(c)
				if strings.Contains(c.Prompt, "Step S02") {
					home := <-homes
					homes <- home
					script.Turns = append([]modeltest.Turn{modeltest.Do(modeltest.Run(looksAround(home, s.folder)))}, script.Turns...)
					once.Do(func() { script.Turns[0].Fault = modeltest.Fault{Kind: modeltest.Stalled}; close(reached) })
				}
				return script
			}})
			homes <- p.home
			c := p.does("run", "1")
			select {
			case <-reached:
			case <-c.done:
				p.tellTranscripts()
				t.Fatalf("it ended with %d\n%s", c.code, c.out)
			case <-time.After(5 * time.Minute):
				t.Fatalf("S02 is never asked for\n%s", c.out)
			}
			c.signal(syscall.SIGKILL)
			<-c.done
			p.mustBeLoggedIn()
			if c = p.does("run", "1"); c.waitFor(10*time.Minute) != 0 {
				p.tellTranscripts()
				t.Fatalf("exit code %d\n%s", c.code, c.out)
			}
			if !strings.Contains(c.out.String(), "own login: a copy of its tokens and settings in ~/"+s.folder) {
				t.Errorf("it does not say what is shown:\n%s", c.out)
			}
			p.mustLeaveNothing()
			p.mustBeLoggedIn()
			p.mustHaveSeen(p.git("show", "main:seen.txt"))
			p.mustHoldNo(s.token)
		})
	}
}

// looksAround writes what the sandbox shows of a HOME, and what it has of the login beside its folder.
func looksAround(home, folder string) string {
	return fmt.Sprintf("{ ls -A %[1]s; echo; cat ~/.claude.json %[1]s/private.txt; env; } >seen.txt 2>&1; cat %[1]s/%[2]s/*.json %[1]s/%[2]s/.c*.json", home, folder)
}

func (p *person) mustBeLoggedIn() {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, p.folder, p.file))
	if err != nil || !json.Valid(text) || !strings.Contains(string(text), p.token) {
		p.Errorf("the login is %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(p.home, ".claude.json")); err != nil || string(text) != `{"of": "nobody else"}` {
		p.Errorf("the person's own file is %q, %v", text, err)
	}
}

func (p *person) mustHaveSeen(seen string) {
	p.Helper()
	shown, rest, _ := strings.Cut(seen, "\n\n")
	if shown != p.folder || strings.Contains(rest, "nobody else") || strings.Contains(rest, p.token) {
		p.Errorf("the agent saw %s", seen)
	}
}

// mustHoldNo wants no file of the project to hold the token, which the agent printed.
func (p *person) mustHoldNo(token string) {
	p.Helper()
	err := filepath.WalkDir(p.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), token) {
			p.Errorf("the token is in %s", path)
		}
		return nil
	})
	if err != nil {
		p.Error(err)
	}
}

// A login that is refused asks the person to log in, by what there is to type, and costs no attempt.
func TestASubscriptionThatIsRefusedSaysWhatToType(t *testing.T) {
	t.Parallel()
	for name, s := range subscriptions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name, modeltest.Config{Key: "another", Choose: playTheRole})
			c := p.does("run", "1")
			if got := c.waitFor(5 * time.Minute); got != 3 {
				p.tellTranscripts()
				t.Fatalf("exit code %d\n%s", got, c.out)
			}
			run := p.stage(1)
			if run.Error == nil || run.Error.ReasonCode != "AGENT_UNAUTHORIZED" || run.Counters.Retries != 0 {
				t.Errorf("%d retries, then %+v", run.Counters.Retries, run.Error)
			}
			if want := name + " " + s.again + "\""; !strings.Contains(c.out.String(), want) {
				t.Errorf("it does not say %q:\n%s", want, c.out)
			}
		})
	}
}

// The end of a plan's share parks the run until the time that the agent tells, with no gateway between.
func TestASubscriptionThatIsUsedUpParksTheRun(t *testing.T) {
	t.Parallel()
	for name, s := range subscriptions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name, modeltest.Config{Key: s.token, Choose: func(modeltest.Conversation) modeltest.Script {
				limit := modeltest.Fault{Kind: modeltest.UsageLimited, RetryAfter: 3 * time.Hour}
				return modeltest.Script{Turns: []modeltest.Turn{{Fault: limit}}}
			}})
			began := time.Now()
			c := p.does("run", "1")
			var run workflow.Run // as it is parked: whoever stops it parks it no more
			if !c.until(func() bool { run = p.stage(1); return run.Details.ParkedUntil != nil }) {
				p.tellTranscripts()
				t.Fatalf("it is not parked:\n%s", c.out)
			}
			c.signal(syscall.SIGINT)
			c.wait()
			if wait := run.Details.ParkedUntil.Sub(began); wait < 3*time.Hour-2*time.Minute || wait > 3*time.Hour+5*time.Minute || run.Counters.Retries != 0 {
				t.Errorf("%d retries, parked for %s\n%s", run.Counters.Retries, wait, c.out)
			}
		})
	}
}

// A session has the same login, also where its agent has nobody.
func TestASubscriptionServesASession(t *testing.T) {
	t.Parallel()
	for name, s := range subscriptions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, name, modeltest.Config{Key: s.token, Choose: func(c modeltest.Conversation) modeltest.Script {
				_, report, _ := strings.Cut(c.Prompt, "is complete run: ")
				report, _, _ = strings.Cut(report, "\n")
				return modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Run(report + " 'greeted by the model'")), modeltest.Say("Greeted.")}}
			}})
			t.Cleanup(func() { endSessions(p.dir) })
			var said string
			for _, args := range [][]string{{"start", "1", "--headless"}, {"wait", "1", "--timeout", "4m"}, {"stop", "1"}} {
				c := p.does(append([]string{"session"}, args...)...)
				if got := c.waitFor(5 * time.Minute); got != 0 {
					t.Errorf("session %q: exit code %d\n%s\n%s", args, got, c.out, p.run(0, "session", "logs", "1"))
				}
				said += c.out.String()
			}
			if !strings.Contains(said, "own login: a copy of its tokens and settings in ~/"+s.folder) {
				t.Errorf("it does not say what is shown:\n%s", said)
			}
			p.mustBeLoggedIn()
		})
	}
}
