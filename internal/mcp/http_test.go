package mcp_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/config"
	"signalbox/internal/mcp"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// served is a project whose agents' front end is served over HTTP to the users of the settings.
type served struct {
	testing.TB
	*httptest.Server
	folder, project string
	mu              sync.Mutex
	settings        config.Serve
	tokens          map[string]string
}

func serve(t *testing.T, roles map[string]string) *served {
	t.Helper()
	s := &served{TB: t, folder: t.TempDir(), project: apptest.Make(t, apptest.Greeting), settings: config.DefaultUser().Serve, tokens: map[string]string{}}
	s.settings.Users = map[string]config.ServeUser{}
	for name, role := range roles {
		token, hash := access.NewToken(name)
		s.tokens[name], s.settings.Users[name] = token, config.ServeUser{Role: role, Token: hash}
	}
	guard, err := access.New(access.Config{Folder: s.folder, Redact: redact.New(nil), Settings: func() (config.Serve, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.settings, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	handler := mcp.Handler(mcp.Config{Version: "1", Name: "demo", Logger: slog.New(slog.DiscardHandler), Audit: guard.Audit(),
		Open: func(ctx context.Context) (context.Context, *app.App, func(), error) {
			return ctx, apptest.Open(t, s.project), func() {}, nil
		}})
	s.Server = httptest.NewServer(guard.Protect(handler))
	t.Cleanup(func() { s.Close(); _ = guard.Close() })
	return s
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (s *served) connect(token string) (*sdk.ClientSession, error) {
	c := sdk.NewClient(&sdk.Implementation{Name: "robot", Version: "1"}, nil)
	session, err := c.Connect(s.Context(), &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
	if err == nil {
		s.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

// calls a tool; refused says why it didn't answer.
func (s *served) calls(c *sdk.ClientSession, tool string, args map[string]any) (text, refused string) {
	s.Helper()
	result, err := c.CallTool(s.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err.Error()
	}
	text = result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		return "", text
	}
	return text, ""
}

func TestOverHTTPAClientMayWhatItsUserMay(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"vera": "viewer", "otto": "operator", "anna": "approver"})
	if _, err := s.connect("sbx_anna_wrong"); err == nil {
		t.Error("a wrong token connects")
	}
	sessions := map[string]*sdk.ClientSession{}
	for name, acts := range map[string][]string{"vera": {}, "otto": {"answer", "create_request", "reject", "resume", "retry", "start_run", "stop"},
		"anna": {"answer", "approve", "create_request", "reject", "resume", "retry", "start_run", "stop"}} {
		c, err := s.connect(s.tokens[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sessions[name] = c
		tools, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var may []string
		for _, tool := range tools.Tools {
			if !tool.Annotations.ReadOnlyHint {
				may = append(may, tool.Name)
			}
		}
		if slices.Sort(may); !slices.Equal(may, acts) || len(tools.Tools) == len(may) {
			t.Errorf("%s may %q", name, may)
		}
	}
	request := map[string]any{"title": "Greet\r\nall", "body": "Say hello."}
	if _, refused := s.calls(sessions["vera"], "create_request", request); !strings.Contains(refused, `unknown tool "create_request"`) {
		t.Errorf("a viewer writes a request: %q", refused)
	}
	request["title"] = "Greet all"
	if _, refused := s.calls(sessions["otto"], "create_request", request); refused != "" {
		t.Errorf("an operator writes no request: %s", refused)
	}
	if text, refused := s.calls(sessions["vera"], "list_runs", nil); !strings.Contains(text, `"Greet all"`) {
		t.Errorf("a viewer sees %s, %s", text, refused)
	}
	approval := map[string]any{"run": "8", "commit": "c0ffee"}
	if _, refused := s.calls(sessions["otto"], "approve", approval); !strings.Contains(refused, "unknown tool") {
		t.Errorf("an operator approves: %q", refused)
	}
	if _, refused := s.calls(sessions["anna"], "approve", approval); !strings.Contains(refused, "there is no run of") {
		t.Errorf("an approver approves what isn't there: %q", refused)
	}
	s.mu.Lock() // a role that is taken away is gone with the next call of the same client
	s.settings.Users = map[string]config.ServeUser{"anna": {Role: "viewer", Token: s.settings.Users["anna"].Token}}
	s.mu.Unlock()
	if _, refused := s.calls(sessions["anna"], "approve", approval); !strings.Contains(refused, "unknown tool") {
		t.Errorf("a viewer approves: %q", refused)
	}
	if _, refused := s.calls(sessions["otto"], "list_runs", nil); !strings.Contains(refused, "401") && !strings.Contains(refused, "Unauthorized") {
		t.Errorf("who is no user any more gets %q", refused)
	}
	data, err := os.ReadFile(filepath.Join(s.folder, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"user":"otto","role":"operator","from":"127.0.0.1"`, `"what":"create_request"`, `"detail":"Greet all","outcome":"done"`,
		`"what":"approve","project":"demo","run":"8","commit":"c0ffee","outcome":"failed"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the record has no %s: %s", want, data)
		}
	}
	if n := strings.Count(string(data), `"what":"create_request"`); n != 2 {
		t.Errorf("%d lines of the one request", n)
	}
}

func TestOverHTTPAClientHearsOfChanges(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"vera": "viewer"})
	project := apptest.Open(t, s.project)
	if begun, err := project.StartRuns(t.Context(), []string{"7"}, func(*app.App) func(workflow.Run) { return func(workflow.Run) {} }); err != nil || begun[0].Err != nil {
		t.Fatal(begun, err)
	}
	updated := make(chan string, 100)
	c := sdk.NewClient(&sdk.Implementation{Name: "robot", Version: "1"}, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }})
	session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer(s.tokens["vera"])}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	const document = "signalbox://runs/7/stage.json"
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: document}); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Give(t.Context(), "7", app.Approve(""), func(*app.App) func(workflow.Run) { return func(workflow.Run) {} }); err != nil {
		t.Fatal(err)
	}
	if got := <-updated; got != document {
		t.Errorf("what changed is %q", got)
	}
}

func TestOverHTTPOnlyBoundedJSONOfNoOtherSiteIsTaken(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"otto": "operator"})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_request","arguments":{"title":"x"}}}`
	for name, attack := range map[string]struct {
		status  int
		body    string
		headers map[string]string
	}{
		"by a form":          {http.StatusUnsupportedMediaType, call, map[string]string{"Content-Type": "text/plain"}},
		"by another site":    {http.StatusForbidden, call, map[string]string{"Origin": "https://evil.example.org"}},
		"to another name":    {http.StatusMisdirectedRequest, call, map[string]string{"Host": "evil.example.org"}},
		"without a token":    {http.StatusUnauthorized, call, map[string]string{"Authorization": ""}},
		"of a large size":    {http.StatusRequestEntityTooLarge, `{"x":"` + strings.Repeat("x", 300<<10) + `"}`, nil},
		"as a session's end": {http.StatusMethodNotAllowed, "", map[string]string{"method": http.MethodDelete}},
		"as it should be":    {http.StatusOK, call, nil},
	} {
		method := http.MethodPost
		if m := attack.headers["method"]; m != "" {
			method = m
		}
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL, strings.NewReader(attack.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + s.tokens["otto"]}}
		for key, value := range attack.headers {
			if r.Header.Set(key, value); key == "Host" {
				r.Host = value
			}
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != attack.status {
			t.Errorf("a call %s: %s, want %d", name, response.Status, attack.status)
		}
	}
}
