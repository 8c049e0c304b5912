package access

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/language"
	"signalbox/internal/redact"
)

// The paths that a Guard serves itself.
const (
	enterPath  = "/enter"
	sharePath  = "/share/"
	loginPath  = "/login"
	stylePath  = "/login/style.css"
	beginPath  = "/login/provider"
	backPath   = "/login/provider/back"
	logoutPath = "/logout"
)

// serve answers a request of the login; false means that it is none.
func (g *Guard) serve(w http.ResponseWriter, r *http.Request, s *config.Serve) bool {
	switch path := r.URL.Path; path {
	case enterPath, loginPath, stylePath, logoutPath:
	case beginPath, backPath:
		if g.SignOn == nil {
			return false
		}
	default:
		if !strings.HasPrefix(path, sharePath) {
			return false
		}
	}
	g.limited(w, r, func() {
		r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
		g.serveLogin(w, r, s)
	})
	return true
}

// maxLogin is the largest body of a login, in bytes.
const maxLogin = 16 << 10

func (g *Guard) serveLogin(w http.ResponseWriter, r *http.Request, s *config.Serve) {
	reads := r.Method == http.MethodGet
	switch path := r.URL.Path; {
	case path == enterPath && reads:
		g.enter(w, r)
	case strings.HasPrefix(path, sharePath) && reads:
		g.openShare(w, r, strings.TrimPrefix(path, sharePath))
	case path == loginPath && reads:
		g.showLogin(w, r, http.StatusOK, "")
	case path == loginPath && r.Method == http.MethodPost:
		g.login(w, r, s)
	case path == stylePath && reads:
		http.ServeFileFS(w, r, files, "style.css")
	case path == beginPath && reads:
		g.leave(w, r)
	case path == backPath && reads:
		g.back(w, r, s)
	case path == logoutPath && r.Method == http.MethodPost:
		g.logout(w, r, s)
	default:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// enter logs a browser in by a one-time address.
func (g *Guard) enter(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Sec-Purpose") != "" { // the browser looks ahead: the address would be used up before the person sees anything
		http.Error(w, "not ahead of time", http.StatusServiceUnavailable)
		return
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" && dest != "document" { // a frame of another page
		http.Error(w, "open this address in a window of its own", http.StatusForbidden)
		return
	}
	right, err := g.redeem(r.Context(), r.URL.Query().Get("token"))
	site := r.Header.Get("Sec-Fetch-Site")
	switch wrong := !right || !g.Local.May(Viewer); {
	case err != nil:
		g.fails(w, r, err)
	case wrong && (site == "cross-site" || site == "same-site"): // the other site's try, which counts for no one
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-used"))
	case wrong && !g.tokens.try(wayOf(r).client, g.Now()):
		g.fails(w, r, errTooMany)
	case wrong:
		g.record(r, User{}, "login", "a one-time address that was used before, or has ended", errRefused)
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-used"))
	default:
		g.begins(w, r, g.Local, session{Name: g.Local.Name, Local: true}, sessionTime, "/")
	}
}

// login logs a browser in by a token.
func (g *Guard) login(w http.ResponseWriter, r *http.Request, s *config.Serve) {
	if err := r.ParseForm(); err != nil {
		g.fails(w, r, errors.Join(errForm, err))
		return
	}
	token := strings.TrimSpace(r.PostForm.Get("token"))
	u, err := g.tokenUser(r.Context(), s, token, wayOf(r).client)
	switch {
	case errors.Is(err, errRefused):
		g.record(r, User{}, "login", "a token", err)
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-wrong"))
	case err != nil:
		g.fails(w, r, err)
	default:
		g.begins(w, r, u, session{Name: u.Name, Token: fingerprint(s.Users[u.Name].Token)}, sessionTime, r.PostForm.Get("next"))
	}
}

// begins begins a session, records it, and leads the browser to a page.
func (g *Guard) begins(w http.ResponseWriter, r *http.Request, u User, s session, lasts time.Duration, next string) {
	err := g.audit.Do(g.acting(r, u), Act{What: "login"}, func() error { return g.begin(w, r, s, lasts) })
	if err != nil {
		g.fails(w, r, err)
		return
	}
	g.lead(w, r, local(next))
}

// leave sends the browser to the provider.
func (g *Guard) leave(w http.ResponseWriter, r *http.Request) {
	secret := rand.Text()
	address, err := g.SignOn.Address(r.Context(), loginOf(r, secret))
	if err != nil {
		g.fails(w, r, err)
		return
	}
	next := base64.RawURLEncoding.EncodeToString([]byte(local(r.URL.Query().Get("next"))))
	g.setCookie(w, r, loginCookie, secret+"."+next, g.Now().Add(ticketTime))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// loginOf derives a login from the secret that only the browser has: nothing has to be remembered until it comes back.
func loginOf(r *http.Request, secret string) Login {
	of := func(what string) string { return seal([]byte(secret), what) }
	return Login{State: of("state"), Nonce: of("nonce"), Verifier: of("verifier"), Back: serverOf(r) + backPath}
}

// serverOf is our address, as the browser has it.
func serverOf(r *http.Request) string {
	if wayOf(r).secure {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// back logs in a browser that comes back from the provider.
func (g *Guard) back(w http.ResponseWriter, r *http.Request, s *config.Serve) {
	secret, next, _ := strings.Cut(g.cookie(r, loginCookie), ".")
	g.setCookie(w, r, loginCookie, "", time.Unix(1, 0)) // once
	l, q := loginOf(r, secret), r.URL.Query()
	if secret == "" || q.Get("state") != l.State {
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-ended"))
		return
	}
	if says := q.Get("error"); says != "" {
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-denied", redact.Line(g.Redact.String(redact.Clean(says)), 80)))
		return
	}
	if !g.tokens.try(wayOf(r).client, g.Now()) {
		g.fails(w, r, errTooMany)
		return
	}
	id, err := g.SignOn.Identify(r.Context(), l, q.Get("code"))
	if err != nil {
		g.Log.Warn("ask the provider who logged in", "err", redact.Clean(err.Error()))
		g.record(r, User{}, "login", "a provider's answer", err)
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-ended"))
		return
	}
	g.tokens.giveBack(wayOf(r).client, g.Now())
	name := id.Email
	if name == "" {
		name = id.Subject
	}
	u := User{Name: redact.Line(redact.Clean(name), 100), Role: id.role(&s.OIDC)}
	if !u.May(Viewer) {
		g.record(r, u, "login", "no role", errRefused)
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "login-no-role", u.Name))
		return
	}
	page, _ := base64.RawURLEncoding.DecodeString(next)
	g.begins(w, r, u, session{Name: u.Name, Identity: &id}, identityTime, string(page))
}

func (g *Guard) logout(w http.ResponseWriter, r *http.Request, s *config.Serve) {
	_ = r.ParseForm() // a form that can't be read says nothing
	err := g.audit.Do(g.acting(r, g.sessionUser(r, s)), Act{What: "logout"}, func() error { return g.end(w, r, r.PostForm.Get("everywhere") != "") })
	if err != nil {
		g.fails(w, r, err)
		return
	}
	http.Redirect(w, r, loginPath, http.StatusSeeOther)
}

// openShare shows what a share link shares.
func (g *Guard) openShare(w http.ResponseWriter, r *http.Request, text string) {
	l, works := g.link(r.Context(), text)
	if !works {
		g.showLogin(w, r, http.StatusForbidden, g.say(r, "share-ended"))
		return
	}
	g.setCookie(w, r, shareCookie, text, l.Ends)
	g.lead(w, r, local(l.Page))
}

// lead leads the browser to a page of ours by a page and not by a redirection, so that the cookie goes with it even if another site led here.
func (g *Guard) lead(w http.ResponseWriter, r *http.Request, page string) {
	g.show(w, r, http.StatusOK, view{Lead: page})
}

// local is a path of ours; another site's address becomes the first page.
func local(page string) string {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(page, "/") ||
		strings.ContainsAny(page, "\\\r\n\t") || redact.Clean(page) != page || strings.HasPrefix(u.Path, "//") {
		return "/"
	}
	return page
}

// errForm is that of a form that can't be read: anyone may send one.
var errForm = errors.New("the form can't be read")

// fails says that a login failed, which is not the user's doing.
func (g *Guard) fails(w http.ResponseWriter, r *http.Request, err error) {
	var tooBig *http.MaxBytesError
	switch {
	case errors.Is(err, errTooMany):
		w.Header().Set("Retry-After", strconv.Itoa(60))
		g.showLogin(w, r, http.StatusTooManyRequests, g.say(r, "login-too-many"))
	case errors.Is(err, os.ErrDeadlineExceeded):
		http.Error(w, "the request took too long", http.StatusRequestTimeout)
	case errors.As(err, &tooBig):
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
	case errors.Is(err, errForm):
		g.Log.Debug("log in", "err", err)
		http.Error(w, errForm.Error(), http.StatusBadRequest)
	case r.Context().Err() != nil: // the client is gone
		g.Log.Debug("log in", "err", err)
	default:
		g.Log.Error("log in", "err", err)
		http.Error(w, "the login failed; the log of serve says why", http.StatusInternalServerError)
	}
}

// record records a login that was refused.
func (g *Guard) record(r *http.Request, u User, what, detail string, err error) {
	l := g.audit.line(g.acting(r, u), Act{What: what, Detail: detail})
	l.ID, l.Outcome, l.Error = rand.Text(), refused, g.audit.text(err.Error())
	if err := g.audit.add(l); err != nil {
		g.Log.Error("record a login that was refused", "err", err)
	}
}

// acting is the context of a request in which a user acts.
func (g *Guard) acting(r *http.Request, u User) context.Context {
	from := origin{wayOf(r).client, r.UserAgent()}
	return context.WithValue(With(r.Context(), u), originKey{}, from)
}

//go:embed page.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "page.html"))

// view is what the page shows: a form to log in, a user's own page, or nothing but the way to another page.
type view struct {
	language.Language
	Lead    string
	Problem string
	Next    string
	// Tokens: users have tokens. Provider: they log in elsewhere.
	Tokens, Provider, Local bool
	Account                 *account
}

func (g *Guard) showLogin(w http.ResponseWriter, r *http.Request, status int, problem string) {
	s, err := g.Settings()
	if err != nil {
		g.fails(w, r, err)
		return
	}
	next := r.URL.Query().Get("next")
	if r.Method == http.MethodPost {
		next = r.PostForm.Get("next")
	}
	g.show(w, r, status, view{Problem: problem, Next: local(next), Tokens: len(s.Users) > 0, Provider: g.SignOn != nil && s.OIDC.Issuer != "", Local: g.Local.May(Viewer)})
}

func (g *Guard) show(w http.ResponseWriter, r *http.Request, status int, v view) {
	v.Language = g.languageOf(r)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := page.Execute(w, v); err != nil {
		g.Log.Debug("write the login page", "err", err)
	}
}

func (g *Guard) say(r *http.Request, name string, args ...any) string {
	return g.languageOf(r).Page(name, args...)
}

// languageOf is the language that the browser asks for first.
func (g *Guard) languageOf(r *http.Request) language.Language {
	switch first, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ","); {
	case strings.HasPrefix(first, "ja"):
		return language.Japanese
	case strings.HasPrefix(first, "en"):
		return language.English
	case g.Language == "":
		return language.English
	}
	return g.Language
}
