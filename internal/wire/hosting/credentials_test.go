package hosting

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab/gitlabtest"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// asked is a vendor's program that prints a token, and remembers how it was called.
type asked struct {
	process.Executor
	prints string
	code   int
	args   [][]string
}

func (a *asked) Exec(_ context.Context, c process.Command) (process.Result, error) {
	a.args = append(a.args, c.Args)
	_, err := io.WriteString(c.Stdout, a.prints)
	return process.Result{ExitCode: a.code}, err
}

// on is the configuration of a project on a stand-in for GitLab.
func on(t *testing.T, s *gitlabtest.Server, f config.Forge, env map[string]string, program *asked) Config {
	t.Helper()
	documents, err := store.Open(t.Context(), store.Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = documents.Close() })
	f.Driver, f.URL = config.ForgeGitLab, s.URL
	return Config{
		Settings: f, Store: documents, Exec: program, Redact: redact.New(nil), Clock: time.Now,
		Remote: func(context.Context) (string, error) {
			return "git@gitlab.example.com:" + gitlabtest.Path + ".git", nil
		},
		Env: func(name string) string { return env[name] }, Within: func(string) string { return "/project" },
		Proxy: func(*url.URL) (*url.URL, error) { return nil, nil }, Roots: func() (func() *x509.CertPool, error) { return func() *x509.CertPool { return nil }, nil },
	}
}

func TestGitLabIsShownATokenByItsKind(t *testing.T) {
	t.Parallel()
	s := gitlabtest.NewBelow(t, "/code")
	s.Issue("Count", "")
	host := strings.TrimPrefix(strings.TrimSuffix(s.URL, "/code"), "http://")
	for name, c := range map[string]struct {
		forge config.Forge
		env   map[string]string
		want  string
		// asks is how the program is called.
		asks []string
	}{
		"usual variable": {env: map[string]string{"GITLAB_TOKEN": "glpat-ada", "CI_JOB_TOKEN": "job-ada"}, want: "PRIVATE-TOKEN glpat-ada"},
		"named variable": {forge: config.Forge{Token: "MINE"}, env: map[string]string{"MINE": "glpat-grace"}, want: "PRIVATE-TOKEN glpat-grace"},
		"job":            {forge: config.Forge{Token: "CI_JOB_TOKEN"}, env: map[string]string{"CI_JOB_TOKEN": "job-ada"}, want: "JOB-TOKEN job-ada"},
		"glab":           {forge: config.Forge{Login: config.ForgeLoginGlab}, want: "Bearer glpat-ada", asks: []string{"glab", "config", "get", "token", "--host", host}},
	} {
		program := &asked{prints: "glpat-ada\n"}
		settings := on(t, s, c.forge, c.env, program)
		s.Requests()
		server, page, err := New(settings).Server(t.Context())
		if err != nil || page != s.URL+"/"+gitlabtest.Path {
			t.Fatalf("%s: %q, %v", name, page, err)
		}
		if _, err := server.Whoami(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.Requests(); len(got) != 1 || got[0].Token != c.want {
			t.Errorf("%s: the server was asked %+v, want with %s", name, got, c.want)
		}
		if c.asks != nil && (len(program.args) != 1 || !slices.Equal(program.args[0], c.asks)) {
			t.Errorf("%s: asked by %q, want %q", name, program.args, c.asks)
		}
		_, secret, _ := strings.Cut(c.want, " ")
		if got := settings.Redact.String("x " + secret + " y"); strings.Contains(got, secret) {
			t.Errorf("%s: the token is not removed: %q", name, got)
		}
	}
}

func TestAMissingTokenOfGitLabIsNamed(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	for name, c := range map[string]struct {
		forge   config.Forge
		program asked
		says    string
	}{
		"variable":      {config.Forge{}, asked{}, "GITLAB_TOKEN is not set"},
		"not logged in": {config.Forge{Login: config.ForgeLoginGlab}, asked{}, "ask glab for the token"},
		"glab fails":    {config.Forge{Login: config.ForgeLoginGlab}, asked{prints: "glpat-ada", code: 1}, "ask glab for the token"},
	} {
		f := New(on(t, s, c.forge, nil, &c.program))
		_, err := f.Examine(t.Context(), "main", "")
		var failure *forge.Failure
		if !errors.As(err, &failure) || failure.Kind != forge.Unauthorized || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "glpat") {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestDoctorSaysWhatATokenOfGitLabLacks(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	s.Issue("Count", "")
	says := func(token string, prepare func(*gitlabtest.State)) (Standing, string) {
		t.Helper()
		if prepare != nil {
			s.With(prepare)
		}
		f := config.Forge{Token: "MINE"}
		if strings.HasPrefix(token, "job-") {
			f.Token = jobToken
		}
		standing, err := New(on(t, s, f, map[string]string{f.Token: token}, &asked{})).Examine(t.Context(), "main", s.Head("main"))
		parts := []string{}
		for _, missing := range append(standing.Missing, err) {
			if missing != nil {
				parts = append(parts, missing.Error())
			}
		}
		return standing, strings.Join(parts, "\n")
	}
	if standing, missing := says("glpat-ada", nil); missing != "" || standing.Account != gitlabtest.Person || standing.Way != config.MergeExact || !slices.Equal(standing.Lacks, []string{"hiding comments"}) || standing.Budget == "" {
		t.Errorf("a Maintainer stands at %+v, and lacks %q", standing, missing)
	}
	if _, missing := says("glpat-mallory", nil); !strings.Contains(missing, "may not push") || !strings.Contains(missing, "role Developer") {
		t.Errorf("a Reporter lacks %q", missing)
	}
	if _, missing := says("job-ada", nil); !strings.Contains(missing, "neither issues nor merge requests") {
		t.Errorf("a job lacks %q", missing)
	}
	if standing, _ := says("glpat-grace", func(st *gitlabtest.State) { st.Protected["main"] = 40 }); standing.Way != config.MergeGuarded {
		t.Errorf("a Developer merges by %+v", standing)
	}
}
