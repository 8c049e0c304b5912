package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"signalbox/internal/config"
)

// errRefused is the answer to every login that isn't right: it says nothing about what was wrong.
var errRefused = errors.New("this token is wrong, or was replaced")

// errTooMany is the answer to a client that was refused too often.
var errTooMany = errors.New("too many wrong tokens: wait a minute")

// tokenPrefix begins every token, so that people and programs that look for secrets know one.
const tokenPrefix = "sbx_"

// The cost of argon2id, as OWASP has it: 19 MiB, two passes, one thread.
const (
	passes    = 2
	memoryKiB = 19 << 10
	threads   = 1
	sumLength = 32
)

// NewToken makes a token for a user, and the hash of it for the configuration (serve.users.NAME.token). Only the user keeps the token.
func NewToken(name string) (token, hash string) {
	token = tokenPrefix + name + "_" + rand.Text()
	salt := []byte(rand.Text())
	return token, fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum(token, salt)))
}

func sum(token string, salt []byte) []byte {
	return argon2.IDKey([]byte(token), salt, passes, memoryKiB, threads, sumLength)
}

// matches reports whether a hash is a token's. Only hashes of our cost are: another one could keep this machine busy.
func matches(token, hash string) bool {
	parts := strings.Split(hash, "$")
	cost := fmt.Sprintf("m=%d,t=%d,p=%d", memoryKiB, passes, threads)
	if len(parts) != 6 || parts[1] != "argon2id" || parts[3] != cost {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	return err == nil && err2 == nil && subtle.ConstantTimeCompare(sum(token, salt), want) == 1
}

// tokens checks tokens. A hash takes time and memory, so few are made at once, and a token that was right is known until its hash changes.
type tokens struct {
	busy  chan struct{}
	mu    sync.Mutex
	right map[string]string // the fingerprint of a token → its hash
	tries map[string]*tries
}

const (
	// atOnce is how many hashes are made at a time.
	atOnce = 2
	// A client may be wrong so often, and once more after so many seconds.
	wrongs     = 10
	wrongEvery = 6
	// maxClients is how many clients are remembered.
	maxClients = 10_000
	// maxRight is how many right tokens are remembered.
	maxRight = 1000
)

func newTokens() *tokens {
	return &tokens{busy: make(chan struct{}, atOnce), right: map[string]string{}, tries: map[string]*tries{}}
}

// dummyHash is the hash that an unknown user's token is compared with, so that an answer doesn't tell which users there are.
var dummyHash = sync.OnceValue(func() string { _, hash := NewToken("-"); return hash })

// user returns the user whose token it is.
func (g *Guard) tokenUser(ctx context.Context, s *config.Serve, token, client string) (User, error) {
	t := g.tokens
	if u, right := t.remembered(s, token); right {
		return u, nil
	}
	name := nameIn(token)
	u, known := s.Users[name]
	if !t.may(client, g.Now()) {
		return User{}, errTooMany
	}
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		return User{}, context.Cause(ctx)
	}
	if !t.try(client, g.Now()) { // before the hash: others of this client may be on their way
		return User{}, errTooMany
	}
	hash := u.Token
	if !known {
		hash = dummyHash()
	}
	if len(token) > 200 || !matches(token, hash) || !known {
		return User{}, errRefused
	}
	t.giveBack(client, g.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.right) >= maxRight {
		clear(t.right)
	}
	t.right[fingerprint(token)] = u.Token
	return userOf(name, u), nil
}

// nameIn is the user's name in a token.
func nameIn(token string) string {
	rest, _ := strings.CutPrefix(token, tokenPrefix)
	return rest[:max(0, strings.LastIndexByte(rest, '_'))]
}

// remembered returns the user of a token that was right before.
func (t *tokens) remembered(s *config.Serve, token string) (User, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := nameIn(token)
	u, known := s.Users[name]
	if before, again := t.right[fingerprint(token)]; !again || !known || before != u.Token {
		return User{}, false
	}
	return userOf(name, u), true
}

// may reports whether a client may try again.
func (t *tokens) may(client string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limit(client, now).left >= 1
}

// try counts a client's try, which is wrong until it's given back; false means that the client has none left.
func (t *tokens) try(client string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.limit(client, now)
	if l.left < 1 {
		return false
	}
	l.left--
	return true
}

// tries are how many a client has left, and since when. Package rate can't give one back.
type tries struct {
	left float64
	at   time.Time
}

// giveBack gives back a client's try, which was right.
func (t *tokens) giveBack(client string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.limit(client, now)
	l.left = min(wrongs, l.left+1)
}

// limit is the client's limit of wrong tokens.
func (t *tokens) limit(client string, now time.Time) *tries {
	l := t.tries[client]
	if l == nil {
		if len(t.tries) >= maxClients {
			clear(t.tries)
		}
		l = &tries{wrongs, now}
		t.tries[client] = l
	}
	if passed := now.Sub(l.at); passed > 0 {
		l.left, l.at = min(wrongs, l.left+passed.Seconds()/wrongEvery), now
	}
	return l
}

// userOf is a user of the configuration.
func userOf(name string, u config.ServeUser) User {
	role, _ := ParseRole(u.Role) // the configuration was checked: any other word is no role
	return User{Name: name, Role: role}
}
