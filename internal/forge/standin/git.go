package standin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Git is a bare repository, and a server of it.
type Git struct {
	// Repository is its folder.
	Repository string
	t          testing.TB
	server     http.Handler
	mu         sync.Mutex
	// merges are the trees that merging two commits gives; empty if they conflict.
	merges map[string]string
}

// NewGit makes a repository with one commit on branch main. Its folder is called name.git.
func NewGit(t testing.TB, name string) *Git {
	t.Helper()
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	return copied(t, from, name)
}

func copied(t testing.TB, from, name string) *Git {
	t.Helper()
	g := &Git{t: t, Repository: filepath.Join(t.TempDir(), name+".git"), merges: map[string]string{}}
	err := os.CopyFS(g.Repository, os.DirFS(from))
	program, missing := exec.LookPath("git")
	if err = errors.Join(err, missing); err != nil {
		t.Fatal(err)
	}
	g.server = &cgi.Handler{Path: program, Args: []string{"-c", "http.receivepack=true", "-c", "gc.auto=0", "http-backend"}, Dir: g.Repository, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(g.Repository), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir(),
	}}
	return g
}

// Fork returns a repository with the same branches, which goes its own way.
func (g *Git) Fork(name string) *Git {
	g.t.Helper()
	return copied(g.t, g.Repository, name)
}

// Take brings the commit of a fork's branch here, as forges do for a pull request, and returns its id; empty if the fork lacks the branch.
func (g *Git) Take(fork *Git, branch string) string {
	g.t.Helper()
	head := fork.Head(branch)
	if head == "" {
		return ""
	}
	if _, err := g.Run("", "cat-file", "-e", head); err != nil {
		g.MustRun("", "fetch", "--quiet", "--no-write-fetch-head", fork.Repository, "refs/heads/"+branch)
	}
	return head
}

// ServeGit serves the repository to whoever asks. rest is the path below the repository's.
func (g *Git) ServeGit(w http.ResponseWriter, r *http.Request, rest string) {
	inside := r.Clone(r.Context())
	inside.URL.Path = "/" + filepath.Base(g.Repository) + "/" + rest
	inside.Header.Del("Authorization")
	g.server.ServeHTTP(w, inside)
}

// Landed returns the commit that brought head onto base, if base has it.
func (g *Git) Landed(head, base string) (commit string, ok bool) {
	if _, err := g.Run("", "merge-base", "--is-ancestor", head, "refs/heads/"+base); err != nil {
		return "", false
	}
	commit, _, _ = strings.Cut(g.MustRun("", "rev-list", "--ancestry-path", "--reverse", head+"..refs/heads/"+base), "\n")
	return cmp.Or(commit, head), true
}

// Run runs git in the bare repository and returns what it printed, trimmed.
func (g *Git) Run(input string, args ...string) (string, error) {
	cmd := exec.CommandContext(g.t.Context(), "git", args...)
	cmd.Dir = g.Repository
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.Repository, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A Server", "GIT_AUTHOR_EMAIL=noreply@example.org", "GIT_AUTHOR_DATE=1764072000 +0000",
		"GIT_COMMITTER_NAME=A Server", "GIT_COMMITTER_EMAIL=noreply@example.org", "GIT_COMMITTER_DATE=1764072000 +0000",
	}
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// MustRun is Run that ends the test if git fails.
func (g *Git) MustRun(input string, args ...string) string {
	g.t.Helper()
	out, err := g.Run(input, args...)
	if err != nil {
		g.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// made is the template's folder, once there is one.
var made string

// template is a repository with one commit. Making one takes git a hundred times as long as copying it.
var template = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "standin")
	if err != nil {
		return "", err
	}
	made = folder
	cmd := exec.Command("git", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", folder) //nolint:noctx // it is every test's
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + folder}
	if err := cmd.Run(); err != nil {
		return "", err
	}
	config, err := os.OpenFile(filepath.Join(folder, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	_, err = config.WriteString("[receive]\n\tautogc = false\n") // which is one more program for each push
	if err = errors.Join(err, config.Close()); err != nil {
		return "", err
	}
	cmd = exec.Command("git", "fast-import", "--quiet") //nolint:noctx // likewise
	cmd.Dir, cmd.Env = folder, []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + folder}
	cmd.Stdin = strings.NewReader(commit("main", "", map[string]string{"README.md": "An engine.\n", ".gitignore": ".signalbox/\n"}))
	return folder, cmd.Run()
})

// End removes what all servers of a process share.
func End() error {
	return os.RemoveAll(made)
}

// commit writes a commit for git fast-import.
func commit(branch, parent string, files map[string]string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "commit refs/heads/%s\ncommitter A Person <person@example.org> 1764072000 +0000\ndata 9\nA change\n\n", branch)
	if parent != "" {
		fmt.Fprintf(&text, "from %s\n", parent)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&text, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
	}
	return text.String()
}

// Commit sets files on a branch, which begins at main if it is new, and returns the new commit's id.
func (g *Git) Commit(branch string, files map[string]string) string {
	g.t.Helper()
	parent := g.Head(branch)
	if parent == "" {
		parent = g.Head("main")
	}
	g.MustRun(commit(branch, parent, files), "fast-import", "--quiet")
	return g.Head(branch)
}

// Head returns the id of a branch's commit; empty if there is no branch. Nothing here packs refs.
func (g *Git) Head(branch string) string {
	if !fs.ValidPath(branch) {
		return ""
	}
	id, err := os.ReadFile(filepath.Join(g.Repository, "refs/heads", branch))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// Merged returns the tree that merging two commits gives.
func (g *Git) Merged(base, head string) (tree string, ok bool) {
	pair := base + " " + head
	g.mu.Lock()
	defer g.mu.Unlock()
	if known, ok := g.merges[pair]; ok {
		return known, known != ""
	}
	out, err := g.Run("", "merge-tree", "--write-tree", base, head)
	if err == nil {
		tree = out
	}
	g.merges[pair] = tree
	return tree, err == nil
}
