package access

import (
	"net/http"
	"strconv"
	"time"
)

// The paths of a user's own page.
const (
	accountPath = "/account"
	makePath    = "/account/share"
	revokePath  = "/account/revoke"
)

// account is a user's own page: who they are, and for an operator the share links.
type account struct {
	User  User
	Links []Link
	// Run and Page are what is to be shared; Link is the new link.
	Run, Page, Link string
}

// serveAccount answers a request of a user's own page; false means that it is none. /account?run=RUN&page=PATH offers to share a run.
func (g *Guard) serveAccount(w http.ResponseWriter, r *http.Request, u User) bool {
	a := &account{User: u}
	var err error
	switch path := r.URL.Path; {
	case path == accountPath && r.Method == http.MethodGet:
		a.Run, a.Page = r.URL.Query().Get("run"), local(r.URL.Query().Get("page"))
	case path == makePath && r.Method == http.MethodPost:
		var made string
		hours, _ := strconv.Atoi(r.PostFormValue("hours")) // Share says what it wants
		if _, made, err = g.Share(r.Context(), r.PostFormValue("run"), r.PostFormValue("page"), time.Duration(hours)*time.Hour); err == nil {
			a.Link = serverOf(r) + made
		}
	case path == revokePath && r.Method == http.MethodPost:
		err = g.Revoke(r.Context(), r.PostFormValue("id"))
	case path == accountPath, path == makePath, path == revokePath:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return true
	default:
		return false
	}
	v, status := view{Account: a}, http.StatusOK
	if err != nil {
		v.Problem, status = g.audit.text(err.Error()), http.StatusBadRequest
	}
	if a.Links, err = g.Shares(); err != nil { // an operator sees them
		g.Log.Error("read the share links", "err", err)
	}
	g.show(w, r, status, v)
	return true
}
