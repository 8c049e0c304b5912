package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/private"
)

// book is the file with what outlives serve. It has no secret: a session, an address and a link are known by the fingerprint of theirs.
type book struct {
	folder string
	now    func() time.Time
	mu     sync.Mutex
	// known is the file as it was read when it was seen.
	known entries
	seen  fs.FileInfo
}

type entries struct {
	Version  int       `json:"version"`
	Tickets  []ticket  `json:"tickets"`
	Sessions []session `json:"sessions"`
	Shares   []Link    `json:"shares"`
}

// ticket is a one-time address.
type ticket struct {
	Fingerprint string    `json:"fingerprint"`
	Ends        time.Time `json:"ends"`
}

// session is a browser that logged in.
type session struct {
	Fingerprint string `json:"fingerprint"`
	Name        string `json:"name"`
	// Local: by a one-time address. Identity: by a provider. Otherwise by the token with the hash of which Token is the fingerprint.
	Local    bool      `json:"local,omitempty"`
	Identity *Identity `json:"identity,omitempty"`
	Token    string    `json:"token,omitempty"`
	Began    time.Time `json:"began"`
	Ends     time.Time `json:"ends"`
}

const (
	bookName = "access.json"
	lockName = "access.lock"
	keyName  = "access.key"
	version  = 1
	// maxBook is the largest book that is read, in bytes.
	maxBook = 4 << 20
	// maxOwn is how many sessions a user has at most, and how many links; their own oldest make room. maxTickets is how many one-time addresses there
	// are, which only the owner of this machine makes.
	maxOwn     = 50
	maxTickets = 1000
)

// read returns the entries as they are now. A missing or broken book has none: everyone logs in again.
func (b *book) read() (entries, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	root, err := private.Open(b.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return entries{}, nil
	}
	if err != nil {
		return entries{}, fmt.Errorf("open the sessions: %w", err)
	}
	defer func() { _ = root.Close() }()
	return b.current(root)
}

func (b *book) current(root *os.Root) (entries, error) {
	info, err := root.Lstat(bookName)
	if errors.Is(err, fs.ErrNotExist) {
		return entries{}, nil
	}
	if err == nil && b.seen != nil && os.SameFile(info, b.seen) && info.ModTime().Equal(b.seen.ModTime()) && info.Size() == b.seen.Size() {
		return b.known, nil
	}
	data, err := private.Read(root, bookName, maxBook)
	if err != nil {
		return entries{}, fmt.Errorf("read the sessions: %w", err)
	}
	var e entries
	if json.Unmarshal(data, &e) != nil || e.Version != version {
		e = entries{}
	}
	b.known, b.seen = e, info
	return e, nil
}

// change changes the entries, under the lock of all processes that do.
func (b *book) change(ctx context.Context, do func(*entries) error) (err error) {
	root, err := private.Make(b.folder)
	if err != nil {
		return fmt.Errorf("open the sessions: %w", err)
	}
	defer func() { _ = root.Close() }()
	lock, err := private.OpenFile(root, lockName, os.O_RDWR|os.O_CREATE)
	if err == nil {
		err = flock.Wait(ctx, lock)
	}
	if err != nil {
		return fmt.Errorf("lock the sessions: %w", err)
	}
	defer func() { err = errors.Join(err, flock.Release(lock)) }()
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.current(root)
	if err != nil {
		return err
	}
	now := b.now()
	e.Version = version
	e.Tickets = kept(e.Tickets, func(t ticket) bool { return now.Before(t.Ends) })
	e.Sessions = kept(e.Sessions, func(s session) bool { return now.Before(s.Ends) })
	e.Shares = kept(e.Shares, func(l Link) bool { return now.Before(l.Ends) })
	if err := do(&e); err != nil {
		return err
	}
	e.Tickets = e.Tickets[max(0, len(e.Tickets)-maxTickets):]
	e.Sessions, e.Shares = newest(e.Sessions, session.owner), newest(e.Shares, func(l Link) string { return l.By })
	data, err := json.MarshalIndent(e, "", "  ")
	if err == nil && len(data) > maxBook {
		err = errors.New("there are too many: log out where you no longer need it")
	}
	if err == nil {
		err = private.Replace(root, bookName, data)
	}
	if err != nil {
		return fmt.Errorf("write the sessions: %w", err)
	}
	b.seen = nil
	return nil
}

// kept returns a copy of the entries that last.
func kept[T any](all []T, lasts func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !lasts(one) })
}

// newest leaves each owner's newest entries, so that no one can drop another's.
func newest[T any](all []T, owner func(T) string) []T {
	extra := map[string]int{}
	for _, one := range all {
		extra[owner(one)]++
	}
	return slices.DeleteFunc(all, func(one T) bool {
		extra[owner(one)]--
		return extra[owner(one)] >= maxOwn
	})
}

// owner tells a session's user from others who may have the same name.
func (s session) owner() string {
	switch {
	case s.Local:
		return "local"
	case s.Identity != nil:
		return "identity " + s.Identity.Issuer + " " + s.Identity.Subject
	}
	return "user " + s.Name
}

// key returns the key that signs share links. It is made when it's first needed.
func (b *book) key(ctx context.Context) ([]byte, error) {
	root, err := private.Make(b.folder)
	if err != nil {
		return nil, fmt.Errorf("open the key of share links: %w", err)
	}
	defer func() { _ = root.Close() }()
	key, err := private.Read(root, keyName, 64)
	if errors.Is(err, fs.ErrNotExist) {
		err = b.change(ctx, func(*entries) error { // one process makes it
			if key, err = private.Read(root, keyName, 64); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			key = []byte(rand.Text() + rand.Text())
			return private.Replace(root, keyName, key)
		})
	}
	if err == nil && len(key) < 32 {
		err = errors.New("it's too short: remove it, and share again")
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of share links: %w", err)
	}
	return key, nil
}

// fingerprint is what is kept of a secret.
func fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
