package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"time"

	"signalbox/internal/config"
)

const (
	// ticketTime is how long a one-time address may be used. sessionTime is how long a login lasts, and identityTime one by a provider, whose word on
	// groups gets old.
	ticketTime   = 10 * time.Minute
	sessionTime  = 30 * 24 * time.Hour
	identityTime = 12 * time.Hour
)

// Ticket returns the path of an address that logs in one browser as the local user, once and soon.
func (g *Guard) Ticket(ctx context.Context) (path string, err error) {
	secret := rand.Text()
	return enterPath + "?token=" + secret, g.book.change(ctx, func(e *entries) error {
		e.Tickets = append(e.Tickets, ticket{fingerprint(secret), g.Now().Add(ticketTime)})
		return nil
	})
}

// redeem takes a ticket. It is gone then. A wrong one, which anyone may send, writes nothing.
func (g *Guard) redeem(ctx context.Context, secret string) (right bool, err error) {
	given := []byte(fingerprint(secret))
	is := func(t ticket) bool { return subtle.ConstantTimeCompare([]byte(t.Fingerprint), given) == 1 }
	if e, err := g.book.read(); err != nil || !slices.ContainsFunc(e.Tickets, is) {
		return false, err
	}
	err = g.book.change(ctx, func(e *entries) error {
		before := len(e.Tickets)
		e.Tickets = slices.DeleteFunc(e.Tickets, is)
		right = len(e.Tickets) < before
		return nil
	})
	return right && err == nil, err
}

// begin begins a session under a new secret, and ends the one that the browser had.
func (g *Guard) begin(w http.ResponseWriter, r *http.Request, s session, lasts time.Duration) error {
	secret := rand.Text()
	s.Fingerprint, s.Began, s.Ends = fingerprint(secret), g.Now(), g.Now().Add(lasts)
	before := g.cookie(r, sessionCookie)
	if err := g.book.change(r.Context(), func(e *entries) error {
		e.Sessions = append(without(e.Sessions, before), s)
		return nil
	}); err != nil {
		return err
	}
	g.setCookie(w, r, sessionCookie, secret, s.Ends)
	return nil
}

func without(all []session, secret string) []session {
	return slices.DeleteFunc(all, func(s session) bool { return s.Fingerprint == fingerprint(secret) })
}

// end ends the browser's session, or with everywhere all sessions of its user.
func (g *Guard) end(w http.ResponseWriter, r *http.Request, everywhere bool) error {
	secret := g.cookie(r, sessionCookie)
	g.setCookie(w, r, sessionCookie, "", time.Unix(1, 0))
	g.setCookie(w, r, shareCookie, "", time.Unix(1, 0))
	return g.book.change(r.Context(), func(e *entries) error {
		i := slices.IndexFunc(e.Sessions, func(s session) bool { return s.Fingerprint == fingerprint(secret) })
		if i < 0 {
			return nil
		}
		ended := e.Sessions[i]
		e.Sessions = slices.DeleteFunc(e.Sessions, func(s session) bool {
			return s.Fingerprint == ended.Fingerprint || everywhere && s.owner() == ended.owner()
		})
		return nil
	})
}

// sessionUser returns the user of the browser's session, with the role that the settings give now.
func (g *Guard) sessionUser(r *http.Request, s *config.Serve) User {
	secret := g.cookie(r, sessionCookie)
	if secret == "" {
		return User{}
	}
	e, err := g.book.read()
	if err != nil {
		g.Log.Error("read the sessions; users have to log in", "err", err)
	}
	i := slices.IndexFunc(e.Sessions, func(s session) bool { return s.Fingerprint == fingerprint(secret) })
	if i < 0 || !g.Now().Before(e.Sessions[i].Ends) {
		return User{}
	}
	switch found := e.Sessions[i]; {
	case found.Local:
		return g.Local
	case found.Identity != nil:
		return User{Name: found.Name, Role: found.Identity.role(&s.OIDC)}
	default:
		if u, known := s.Users[found.Name]; known && found.Token == fingerprint(u.Token) {
			return userOf(found.Name, u)
		}
	}
	return User{}
}

// role is the highest role that the settings give to an identity of their provider.
func (i *Identity) role(s *config.ServeOIDC) Role {
	if i.Issuer != s.Issuer {
		return 0
	}
	for at, members := range [][]string{s.Approvers, s.Operators, s.Viewers} {
		if slices.ContainsFunc(members, i.is) {
			return Approver - Role(at)
		}
	}
	return 0
}

// is reports whether a word of the settings means the identity.
func (i *Identity) is(member string) bool {
	return member == "subject:"+i.Subject || i.Email != "" && member == "email:"+i.Email ||
		slices.ContainsFunc(i.Groups, func(group string) bool { return member == "group:"+group })
}

// The names of the cookies. Under TLS they get a prefix by which no other host can set them. Without, they get the port: hosts share cookies between ports.
const (
	sessionCookie = "signalbox"
	shareCookie   = "signalbox-share"
	loginCookie   = "signalbox-login"
)

func cookieName(r *http.Request, name string) string {
	if wayOf(r).secure {
		return "__Host-" + name
	}
	_, port, _ := net.SplitHostPort(r.Host)
	return name + "-" + port
}

func (g *Guard) cookie(r *http.Request, name string) string {
	c, err := r.Cookie(cookieName(r, name))
	if err != nil || len(c.Value) > 4096 {
		return ""
	}
	return c.Value
}

func (g *Guard) setCookie(w http.ResponseWriter, r *http.Request, name, value string, ends time.Time) {
	c := &http.Cookie{Name: cookieName(r, name), Value: value, Path: "/", Expires: ends, HttpOnly: true, Secure: wayOf(r).secure, SameSite: http.SameSiteStrictMode}
	if name == loginCookie { // the browser comes back with it from another site
		c.SameSite = http.SameSiteLaxMode
	}
	if !ends.After(g.Now()) {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
