package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/lazy"
)

// Link is a share link: for a while, it shows one run to everyone who has it.
type Link struct {
	ID string `json:"id"`
	// Run is the run that it shows, Page the page that it opens.
	Run  string    `json:"run"`
	Page string    `json:"page"`
	By   string    `json:"by"`
	Made time.Time `json:"made"`
	Ends time.Time `json:"ends"`
}

// longestShare is the longest time that a link may last.
const longestShare = 30 * 24 * time.Hour

// runPage is the path of a run's page. A link opens what is below, too, so no other page may be one's.
var runPage = lazy.Pattern(`^/p/[\w-][\w.-]*/runs/[\w-][\w.-]*$`)

// Share makes a link to a run, and returns the path of its address. Only an operator may.
func (g *Guard) Share(ctx context.Context, run, page string, lasts time.Duration) (l Link, path string, err error) {
	u := From(ctx)
	switch {
	case !u.May(Operator) || u.Only != "":
		return l, "", fmt.Errorf("share a run: this needs the role %s", Operator)
	case run == "" || !runPage().MatchString(page):
		return l, "", errors.New("share a run: want a run and the path of its page, /p/PROJECT/runs/REQUEST")
	case lasts <= 0 || lasts > longestShare:
		return l, "", fmt.Errorf("share a run: want a time up to %s", longestShare)
	}
	now := g.Now()
	l = Link{ID: rand.Text(), Run: run, Page: page, By: u.Name, Made: now, Ends: now.Add(lasts)}
	err = g.audit.Do(ctx, Act{What: "share", Run: run, Detail: "until " + l.Ends.UTC().Format(time.RFC3339)}, func() error {
		key, err := g.book.key(ctx)
		if err != nil {
			return err
		}
		path = sharePath + sign(key, l)
		return g.book.change(ctx, func(e *entries) error {
			e.Shares = append(e.Shares, l)
			return nil
		})
	})
	return l, path, err
}

// Shares returns the links that still work.
func (g *Guard) Shares() ([]Link, error) {
	e, err := g.book.read()
	return kept(e.Shares, func(l Link) bool { return g.Now().Before(l.Ends) }), err
}

// Revoke ends a link at once.
func (g *Guard) Revoke(ctx context.Context, id string) error {
	return g.audit.Do(ctx, Act{What: "revoke", Detail: id}, func() error {
		if u := From(ctx); !u.May(Operator) || u.Only != "" {
			return fmt.Errorf("revoke a share link: this needs the role %s", Operator)
		}
		return g.book.change(ctx, func(e *entries) error {
			e.Shares = slices.DeleteFunc(e.Shares, func(l Link) bool { return l.ID == id })
			return nil
		})
	})
}

// shared is the part of a link that is signed.
type shared struct {
	ID   string `json:"i"`
	Run  string `json:"r"`
	Ends int64  `json:"e"`
}

// sign returns what is in a link's address.
func sign(key []byte, l Link) string {
	data, _ := json.Marshal(shared{l.ID, l.Run, l.Ends.Unix()}) // texts and a number
	text := base64.RawURLEncoding.EncodeToString(data)
	return text + "." + seal(key, text)
}

func seal(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // a hash takes everything
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// link returns the link with this text, if it was signed here, hasn't ended and wasn't revoked.
func (g *Guard) link(ctx context.Context, text string) (Link, bool) {
	payload, mac, _ := strings.Cut(text, ".")
	key, err := g.book.key(ctx)
	if err != nil || !hmac.Equal([]byte(mac), []byte(seal(key, payload))) {
		return Link{}, false
	}
	var s shared
	data, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(data, &s) != nil || g.Now().Unix() >= s.Ends {
		return Link{}, false
	}
	e, err := g.book.read()
	i := slices.IndexFunc(e.Shares, func(l Link) bool { return l.ID == s.ID && l.Run == s.Run })
	if err != nil || i < 0 {
		return Link{}, false
	}
	return e.Shares[i], true
}
