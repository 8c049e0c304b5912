package githubtest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// run runs git in the bare repository and returns what it printed, trimmed.
func (s *Server) run(input string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir = s.Repository
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.Repository, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=GitHub", "GIT_AUTHOR_EMAIL=noreply@example.org", "GIT_AUTHOR_DATE=1764072000 +0000",
		"GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@example.org", "GIT_COMMITTER_DATE=1764072000 +0000",
	}, env...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (s *Server) mustRun(input string, env []string, args ...string) string {
	s.t.Helper()
	out, err := s.run(input, env, args...)
	if err != nil {
		s.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (s *Server) initRepository() {
	s.t.Helper()
	if err := os.MkdirAll(s.Repository, 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.mustRun("", nil, "init", "--quiet", "--bare", "--initial-branch=main")
	s.mustRun("", nil, "config", "http.receivepack", "true")
	s.Commit("main", map[string]string{"README.md": "An engine.\n"})
}

// Commit sets files on a branch, which begins at main if it is new, and returns the new commit's id.
func (s *Server) Commit(branch string, files map[string]string) string {
	s.t.Helper()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(s.t.TempDir(), "index")}
	parent := s.Head(branch)
	if parent == "" {
		parent = s.Head("main")
	}
	var parents []string
	if parent != "" {
		s.mustRun("", index, "read-tree", parent)
		parents = []string{"-p", parent}
	}
	for name, content := range files {
		blob := s.mustRun(content, nil, "hash-object", "-w", "--stdin")
		s.mustRun("", index, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
	}
	tree := s.mustRun("", index, "write-tree")
	commit := s.mustRun("A change\n", nil, append([]string{"commit-tree", tree}, parents...)...)
	s.mustRun("", nil, "update-ref", "refs/heads/"+branch, commit)
	return commit
}

// Head returns the id of a branch's commit; empty if there is no branch.
func (s *Server) Head(branch string) string {
	out, err := s.run("", nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	if err != nil {
		return ""
	}
	return out
}

// merged returns the tree that merging two commits gives.
func (s *Server) merged(base, head string) (tree string, ok bool) {
	out, err := s.run("", nil, "merge-tree", "--write-tree", base, head)
	first, _, _ := strings.Cut(out, "\n")
	return first, err == nil
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
