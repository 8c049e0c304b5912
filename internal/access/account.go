package access

import "net/http"

// The paths of a user's own page.
const (
	accountPath = "/account"
	revokePath  = "/account/revoke"
)

// account is a user's own page: who they are, and for an operator the share links.
type account struct {
	User  User
	Links []Link
}

// serveAccount answers a request of a user's own page; false means that it is none.
func (g *Guard) serveAccount(w http.ResponseWriter, r *http.Request, u User) bool {
	a, v, status := &account{User: u}, view{}, http.StatusOK
	switch path := r.URL.Path; {
	case path == accountPath && r.Method == http.MethodGet:
	case path == revokePath && r.Method == http.MethodPost:
		if err := g.Revoke(r.Context(), r.PostFormValue("id")); err != nil {
			v.Problem, status = g.audit.text(err.Error()), http.StatusBadRequest
		}
	case path == accountPath, path == revokePath:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return true
	default:
		return false
	}
	var err error
	if a.Links, err = g.Shares(); err != nil { // an operator sees them
		g.Log.Error("read the share links", "err", err)
	}
	v.Account = a
	g.show(w, r, status, v)
	return true
}
