package access

import (
	"net/http"
	"strconv"
	"time"
)

// The paths of a user's own page.
const (
	accountPath = "/account"
	revokePath  = "/account/revoke"
	makePath    = "/account/share"
)

// account is a user's own page: who they are, and for an operator the share links.
type account struct {
	User  User
	Links []Link
	// Run and Page are those that a link is to be made to; empty for none. Made is the address of the one that was made: it isn't shown again.
	Run, Page, Made string
}

// serveAccount answers a request of a user's own page; false means that it is none.
func (g *Guard) serveAccount(w http.ResponseWriter, r *http.Request, u User) bool {
	a, v, status := &account{User: u}, view{}, http.StatusOK
	switch path := r.URL.Path; {
	case path == accountPath && r.Method == http.MethodGet:
		a.Run, a.Page = r.URL.Query().Get("run"), r.URL.Query().Get("page")
	case path == makePath && r.Method == http.MethodPost:
		days, _ := strconv.Atoi(r.PostFormValue("days")) // a text is no time, which Share refuses
		_, at, err := g.Share(r.Context(), r.PostFormValue("run"), r.PostFormValue("page"), time.Duration(days)*24*time.Hour)
		if a.Made = serverOf(r) + at; err != nil {
			a.Made, v.Problem, status = "", g.audit.text(err.Error()), http.StatusBadRequest
		}
	case path == revokePath && r.Method == http.MethodPost:
		if err := g.Revoke(r.Context(), r.PostFormValue("id")); err != nil {
			v.Problem, status = g.audit.text(err.Error()), http.StatusBadRequest
		}
	case path == accountPath, path == revokePath, path == makePath:
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
