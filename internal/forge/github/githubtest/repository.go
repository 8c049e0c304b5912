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
		gone, base, head := s.Head(p.Branch) == "", s.Head(p.Base), s.headOf(p)
		if p.Closed || p.Owner != Owner || !gone && p.seen == base+head {
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
	s.mu.Unlock()
	rest, ours := strings.CutPrefix(r.URL.Path, "/"+Owner+"/"+Name+".git/")
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
