package hosting

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/gitea"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// answers is the forge of a project on a Gitea that gives every call this answer.
func answers(t *testing.T, answer http.HandlerFunc) (f *Forge, page string) {
	t.Helper()
	fake := httptest.NewServer(answer)
	t.Cleanup(fake.Close)
	server, err := gitea.New(gitea.Config{URL: fake.URL, Owner: "ada", Name: "engine", Now: time.Now, Token: func(context.Context) (string, error) { return "t", nil }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f = New(Config{Settings: config.Forge{Driver: config.ForgeGitea}, Store: s, Redact: redact.New(nil)})
	f.built = &built{address: address{fake.URL, "ada/engine"}, server: server, forge: hosted.New(hosted.Config{Server: server, Store: s}), clock: time.Now,
		credentials: perform.Access{Variable: "GITEA_TOKEN"}}
	return f, fake.URL + "/ada/engine"
}

func TestAnErrorSaysOnceWhatWasTried(t *testing.T) {
	t.Parallel()
	f, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	_, listed := f.Issues(t.Context(), forge.Query{})
	_, read := f.Request(t.Context(), "16")
	_, discussed := f.Orders(t.Context(), forge.OnIssue(3), time.Time{})
	for _, err := range []error{listed, read, discussed} {
		if err == nil {
			t.Fatal("no error")
		}
		parts := strings.Split(err.Error(), ": ")
		for i := range parts[1:] {
			if parts[i] == parts[i+1] {
				t.Errorf("it repeats itself: %v", err)
			}
		}
		if !strings.Contains(err.Error(), "502") || len(parts) < 2 {
			t.Errorf("it doesn't say what was tried and answered: %v", err)
		}
	}
}

func TestWhatIsNoIssueSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	f, page := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/issues/16") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"number": 16, "title": "A change", "pull_request": {}}`))
	})
	for ref, want := range map[string][2]string{
		"99":                                {`there is no issue "99"`, "signalbox list --forge"},
		"16":                                {"16: it is a pull request, and an issue is wanted", "name the issue that it closes, such as signalbox run 42"},
		page + "/pulls/1":                   {"it is a pull request, and an issue is wanted", page + "/issues/NUMBER"},
		page + "/-/merge_requests/1/diff":   {"it is a pull request, and an issue is wanted", page + "/issues/NUMBER"},
		"https://forge.example/x/y/pulls/1": {"it is not an issue of this project's repository", "go to a clone"},
	} {
		_, err := f.Request(t.Context(), ref)
		var p *problem.Error
		if !errors.As(err, &p) || !errors.Is(err, forge.ErrNotFound) && p.Code != problem.NotFound || !strings.Contains(err.Error(), want[0]) || !strings.Contains(p.Hint, want[1]) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
