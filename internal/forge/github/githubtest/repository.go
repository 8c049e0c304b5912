package githubtest

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// run runs git in the bare repository and returns what it printed, trimmed.
func (s *Server) run(input string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir = s.Repository
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.Repository, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=GitHub", "GIT_AUTHOR_EMAIL=noreply@example.org", "GIT_AUTHOR_DATE=1764072000 +0000",
		"GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@example.org", "GIT_COMMITTER_DATE=1764072000 +0000",
	}
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (s *Server) mustRun(input string, args ...string) string {
	s.t.Helper()
	out, err := s.run(input, args...)
	if err != nil {
		s.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// made is the template's folder, once there is one.
var made string

// template is a repository with one commit. Making one takes git a hundred times as long as copying it.
var template = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "githubtest")
	if err != nil {
		return "", err
	}
	made = folder
	cmd := exec.Command("git", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", folder) //nolint:noctx // it is every test's
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + folder}
	if err := cmd.Run(); err != nil {
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

func (s *Server) initRepository() {
	s.t.Helper()
	from, err := template()
	if err == nil {
		err = os.CopyFS(s.Repository, os.DirFS(from))
	}
	if err != nil {
		s.t.Fatal(err)
	}
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
func (s *Server) Commit(branch string, files map[string]string) string {
	s.t.Helper()
	parent := s.Head(branch)
	if parent == "" {
		parent = s.Head("main")
	}
	s.mustRun(commit(branch, parent, files), "fast-import", "--quiet")
	return s.Head(branch)
}

// Head returns the id of a branch's commit; empty if there is no branch. Nothing here packs refs.
func (s *Server) Head(branch string) string {
	if !fs.ValidPath(branch) {
		return ""
	}
	id, err := os.ReadFile(filepath.Join(s.Repository, "refs/heads", branch))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// merged returns the tree that merging two commits gives.
func (s *Server) merged(base, head string) (tree string, ok bool) {
	pair := base + " " + head
	if known, ok := s.state.merges[pair]; ok {
		return known, known != ""
	}
	out, err := s.run("", "merge-tree", "--write-tree", base, head)
	if err == nil {
		tree = out
	}
	s.state.merges[pair] = tree
	return tree, err == nil
}

// pushed does what GitHub does after a push: it marks pull requests as merged whose commits are on their base now, and closes those whose
// branch is gone. It is called before each answer, so that pushes may go past the server.
func (s *Server) pushed() {
	for _, p := range s.state.Pulls {
		gone, base, head := s.Head(p.Branch) == "", s.Head(p.Base), s.headOf(p)
		if p.Closed || p.Owner != Owner || !gone && p.seen == base+head {
			continue
		}
		p.seen = base + head
		if _, err := s.run("", "merge-base", "--is-ancestor", head, "refs/heads/"+p.Base); err == nil {
			merge, _, _ := strings.Cut(s.mustRun("", "rev-list", "--ancestry-path", "--reverse", head+"..refs/heads/"+p.Base), "\n")
			if merge == "" {
				merge = head
			}
			now := s.state.tick()
			p.Closed, p.Merge, p.Merged, p.Updated = true, merge, &now, now
		}
		p.Closed = p.Closed || gone
	}
}

// serveGit serves the repository to accounts that may write, by their token as the password.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	_, token, _ := r.BasicAuth()
	s.mu.Lock()
	account := s.state.account(token)
	may := s.state.Permissions[account] == "write" || s.state.Permissions[account] == "admin"
	s.mu.Unlock()
	rest, ours := strings.CutPrefix(r.URL.Path, "/"+Owner+"/"+Name+".git/")
	switch {
	case !may:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Authentication failed", http.StatusUnauthorized)
	case !ours:
		http.NotFound(w, r)
	default:
		inside := r.Clone(r.Context())
		inside.URL.Path = "/" + filepath.Base(s.Repository) + "/" + rest
		inside.Header.Del("Authorization")
		s.git.ServeHTTP(w, inside)
	}
}
