package githubtest

import (
	"net/http"
	"strings"
)

// pushed does what GitHub does after a push: it marks pull requests as merged whose commits are on their base now, and closes those whose
// branch is gone. It is called before each answer, so that pushes may go past the server.
func (s *Server) pushed() {
	if s.state.Still {
		return
	}
	for _, p := range s.state.Pulls {
		gone, base, head := s.offered(p.Owner, p.Branch) == "", s.Head(p.Base), s.headOf(p)
		if p.Closed || p.Owner != Owner && s.state.Forks[p.Owner] == nil || !gone && p.seen == base+head {
			continue
		}
		p.seen = base + head
		if merge, landed := s.Landed(head, p.Base); landed {
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
	fork := s.state.Forks[account]
	s.mu.Unlock()
	rest, ours := strings.CutPrefix(r.URL.Path, "/"+Owner+"/"+Name+".git/")
	if fork != nil {
		if below, theirs := strings.CutPrefix(r.URL.Path, "/"+account+"/"+fork.Name+".git/"); theirs {
			fork.Git.ServeGit(w, r, below)
			return
		}
	}
	may = may || ours && account != "" && !strings.Contains(r.URL.RequestURI(), "git-receive-pack")
	switch {
	case !may:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Authentication failed", http.StatusUnauthorized)
	case !ours:
		http.NotFound(w, r)
	default:
		s.ServeGit(w, r, rest)
	}
}

// createFork answers at once, and the fork has its branches later.
func createFork(c *call) {
	fork := c.st.Forks[c.account]
	if fork == nil {
		fork = &Fork{Name, c.Git.Fork(Name)}
		c.st.Forks[c.account] = fork
	}
	answer := with(c.example(http.StatusAccepted).(object), c.forked(c.account, fork))
	answer["has_discussions"] = false // the example lacks it
	c.send(http.StatusAccepted, answer)
}

func getBranch(c *call) {
	name, git := c.r.PathValue("branch"), c.Git
	if fork := c.st.Forks[c.r.PathValue("owner")]; fork != nil {
		git = fork.Git
		if c.st.Filling--; c.st.Filling >= 0 {
			c.refuse(http.StatusNotFound, "Branch not found")
			return
		}
	}
	if git.Head(name) == "" {
		c.refuse(http.StatusNotFound, "Branch not found")
		return
	}
	c.send(http.StatusOK, with(c.example(http.StatusOK).(object), object{"name": name, "commit": object{"sha": git.Head(name)}}))
}
