package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/forge/gitea/giteatest"
)

// realGitea is a Gitea with its runner, started by the first test that needs it. People are the accounts there, by name, with their tokens:
// grace owns the repositories, ada may write to them, mallory may not, and Signalbox acts as signalbox.
var realGitea struct {
	once   sync.Once
	server *giteatest.Server
	people map[string]string
	err    error
}

// signalboxScopes are the rights that docs/forges.md names, and no more.
var signalboxScopes = []string{"write:issue", "write:repository", "read:user"}

func startGitea(t *testing.T) {
	t.Helper()
	programs := os.Getenv(giteatest.Programs)
	if programs == "" {
		t.Skip("no Gitea: " + giteatest.Programs + " is not set")
	}
	ours := filepath.Dir(program(t))
	realGitea.once.Do(func() {
		ctx := context.Background() // it lives as long as all tests
		if realGitea.server, realGitea.err = giteatest.Start(ctx, programs); realGitea.err != nil {
			return
		}
		realGitea.people = map[string]string{}
		for _, name := range []string{"grace", "ada", "mallory", "signalbox"} {
			if realGitea.people[name], realGitea.err = realGitea.server.User(ctx, name, signalboxScopes...); realGitea.err != nil {
				return
			}
		}
		realGitea.err = realGitea.server.Runner(ctx, ours)
	})
	if realGitea.err != nil {
		t.Fatal(realGitea.err)
	}
}

func stopGitea() error {
	if realGitea.server == nil {
		return nil
	}
	return realGitea.server.Stop()
}

// tea is a project whose issues and pull requests are on a real Gitea.
type tea struct {
	*project
	*giteatest.Server
	name string
	env  []string
}

// newTea makes a repository of grace's with these files on its main branch, and a checkout of it in which Signalbox works.
func newTea(t *testing.T, name string, files map[string]string) *tea {
	t.Helper()
	startGitea(t)
	g := &tea{&project{t, projectDir(t)}, realGitea.server, name, nil}
	if err := g.Repository(t.Context(), "grace", name); err != nil {
		t.Fatal(err)
	}
	for _, writer := range []string{"signalbox", "ada"} {
		g.as("grace", http.MethodPut, "/collaborators/"+writer, map[string]any{"permission": "write"}, nil)
	}
	g.as("grace", http.MethodPost, "/labels", map[string]any{"name": "signalbox", "color": "#1d76db"}, nil)
	home := t.TempDir()
	at := strings.Replace(g.URL, "://", "://signalbox:"+realGitea.people["signalbox"]+"@", 1)
	writeFile(t, filepath.Join(home, ".git-credentials"), at+"\n", 0o600)
	writeFile(t, filepath.Join(home, ".gitconfig"), "[credential]\nhelper = store\n", 0o600)
	g.env = append([]string{"HOME=" + home, "GITEA_TOKEN=" + realGitea.people["signalbox"]}, ada...)
	g.gitWith(g.env, "clone", "--quiet", g.URL+"/grace/"+name+".git", ".")
	for path, text := range files {
		g.write(path, text)
	}
	g.git("add", ".")
	g.git("commit", "--quiet", "-m", "Say hello")
	g.gitWith(g.env, "push", "--quiet", "origin", "main")
	return g
}

// as calls the API below the repository, as one of the people.
func (g *tea) as(who, method, path string, in, out any) {
	g.Helper()
	if err := g.Call(g.Context(), realGitea.people[who], method, "repos/grace/"+g.name+path, in, out); err != nil {
		g.Fatal(err)
	}
}

// issue has mallory file an issue, and returns its number.
func (g *tea) issue(title, body string) int {
	g.Helper()
	var made struct {
		Number int `json:"number"`
	}
	g.as("mallory", http.MethodPost, "/issues", map[string]any{"title": title, "body": body}, &made)
	return made.Number
}

// label has one of the people set the label that runs an issue.
func (g *tea) label(who string, issue int) {
	g.Helper()
	g.as(who, http.MethodPost, fmt.Sprintf("/issues/%d/labels", issue), map[string]any{"labels": []string{"signalbox"}}, nil)
}

// comment has one of the people comment on an issue.
func (g *tea) comment(who string, issue int, body string) {
	g.Helper()
	g.as(who, http.MethodPost, fmt.Sprintf("/issues/%d/comments", issue), map[string]any{"body": body}, nil)
}

// said is what Signalbox wrote on an issue or a pull request.
func (g *tea) said(number int) (bodies []string) {
	g.Helper()
	var all []struct {
		Body string `json:"body"`
		User struct {
			Login string `json:"login"`
		} `json:"user"`
	}
	g.as("ada", http.MethodGet, fmt.Sprintf("/issues/%d/comments", number), nil, &all)
	for _, c := range all {
		if c.User.Login == "signalbox" {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

// teaPull is a pull request as Gitea tells of it.
type teaPull struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	State   string `json:"state"`
	Draft   bool   `json:"draft"`
	Merged  bool   `json:"merged"`
	HTMLURL string `json:"html_url"`
	Head    struct {
		Ref string `json:"ref"`
		SHA string `json:"sha"`
	} `json:"head"`
	Merge string `json:"merge_commit_sha"`
}

// pulls are all pull requests there are.
func (g *tea) pulls() (all []teaPull) {
	g.Helper()
	g.as("ada", http.MethodGet, "/pulls?state=all", nil, &all)
	return all
}

// teaStatuses are the last states of a commit, by name.
func (g *tea) statuses(commit string) map[string]string {
	g.Helper()
	var all struct {
		Statuses []struct {
			Context string `json:"context"`
			Status  string `json:"status"`
		} `json:"statuses"`
	}
	g.as("ada", http.MethodGet, "/commits/"+commit+"/status", nil, &all)
	states := map[string]string{}
	for _, s := range all.Statuses {
		states[s.Context] = s.Status
	}
	return states
}

// branches are the branches that Gitea has.
func (g *tea) branches() string {
	g.Helper()
	return g.gitWith(g.env, "ls-remote", "--heads", "origin")
}

// settled wants an issue that is closed, with one progress comment, which says that all is done.
func (g *tea) settled(issue int) {
	g.Helper()
	var about struct {
		State  string `json:"state"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	}
	g.as("ada", http.MethodGet, fmt.Sprintf("/issues/%d", issue), nil, &about)
	if about.State != "closed" {
		g.Errorf("issue %d is %s", issue, about.State)
	}
	var progress []string
	for _, body := range g.said(issue) {
		if strings.Contains(body, "Signalbox needs you") && !strings.Contains(body, "-->\n<details><summary>Signalbox needed you") {
			g.Errorf("it still asks %s", body)
		}
		if strings.Contains(body, "<!-- signalbox:data {") {
			progress = append(progress, body)
		}
	}
	if len(progress) != 1 || !strings.Contains(progress[0], `"state":"DONE"`) {
		g.Errorf("the progress comments are %q", progress)
	}
	if names := fmt.Sprint(about.Labels); strings.Contains(names, "needs-input") {
		g.Errorf("the labels are %s", names)
	}
}

// secret gives the repository's jobs a secret.
func (g *tea) secret(name, value string) {
	g.Helper()
	g.as("grace", http.MethodPut, "/actions/secrets/"+url.PathEscape(name), map[string]any{"data": value}, nil)
}
