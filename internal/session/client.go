package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/flock"
	"signalbox/internal/store"
)

// Session is one session of a project, running or not.
type Session struct {
	of   *Sessions
	name string
	dir  string
}

// Open finds a session by its exact name. ErrNotFound: there never was one.
func (s *Sessions) Open(ctx context.Context, name string) (*Session, error) {
	rel, err := store.SessionDir(name)
	if err != nil {
		return nil, err
	}
	x := &Session{of: s, name: name, dir: filepath.Join(s.Root, filepath.FromSlash(rel))}
	if _, err := x.load(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// List returns all sessions of the project, by issue. It records the end of a session whose host was
// killed.
func (s *Sessions) List(ctx context.Context) ([]Info, error) {
	names, err := s.Store.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, name := range names {
		x, err := s.Open(ctx, name)
		if errors.Is(err, ErrNotFound) { // one that never ran
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := x.Info(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	slices.SortStableFunc(all, func(a, b Info) int { return cmp.Compare(a.Issue, b.Issue) })
	return all, nil
}

func (x *Session) load(ctx context.Context) (Info, error) {
	info, err := store.Session[Info](x.of.Store, x.name).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, fmt.Errorf("session %s: %w", x.name, ErrNotFound)
	}
	return info, err
}

// Info returns the session's present state. Its host lives as long as it holds a lock, which the kernel
// frees; a session whose host died unnoticed is Gone from here on.
func (x *Session) Info(ctx context.Context) (Info, error) {
	info, err := x.load(ctx)
	if err != nil || info.EndedAt != nil {
		return info, err
	}
	running, err := held(filepath.Join(x.dir, lockFile))
	if err != nil || running {
		return info, err
	}
	if err := x.of.reconcile(ctx, x.dir, x.name); err != nil {
		return Info{}, fmt.Errorf("end session %s, whose host has died: %w", x.name, err)
	}
	return x.load(ctx)
}

// Output returns the session's output so far, unchanged except for secrets; of much output the beginning
// and the end.
func (x *Session) Output() (io.ReadCloser, error) { return openRecord(x.dir) }

// Text returns the readable text of Output: of a program that draws, the lines that stayed on its screen.
func (x *Session) Text() (io.ReadCloser, error) {
	text, err := openRecord(filepath.Join(x.dir, textFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return x.Output()
	}
	return text, err
}

// dialPause and dialTries: a host that holds its lock opens its socket a moment later.
const dialPause, dialTries = 10 * time.Millisecond, 300

// request connects to the host and sends it a request. ErrNotRunning: there is no host.
func (x *Session) request(ctx context.Context, wanted request) (net.Conn, Info, error) {
	conn, err := x.dial(ctx)
	if err != nil {
		return nil, Info{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	var info Info
	if err = (&frames{to: conn}).sendJSON(frameRequest, wanted); err == nil {
		info, err = readInfo(conn)
	}
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) {
		err = fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if err != nil {
		return nil, Info{}, errors.Join(fmt.Errorf("%s session %s: %w", wanted.Op, x.name, err), conn.Close())
	}
	return conn, info, nil
}

func (x *Session) dial(ctx context.Context) (net.Conn, error) {
	folder, err := os.Open(x.dir)
	if err != nil {
		return nil, fmt.Errorf("open folder of session: %w", err)
	}
	defer func() { _ = folder.Close() }()
	for try := 0; ; try++ {
		info, err := x.Info(ctx)
		if err == nil && info.EndedAt != nil {
			err = fmt.Errorf("session %s: %w", x.name, ErrNotRunning)
		}
		if err != nil {
			return nil, err
		}
		conn, err := new(net.Dialer).DialContext(ctx, "unix", inFolder(folder, hostSocket))
		if err == nil {
			if err := checkPeer(conn); err != nil {
				return nil, errors.Join(fmt.Errorf("host of session %s: %w", x.name, err), conn.Close())
			}
			return conn, nil
		}
		if try == dialTries || ctx.Err() != nil {
			return nil, fmt.Errorf("reach host of session %s: %w", x.name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(dialPause):
		}
	}
}

// Nudge types a message and Enter. ErrText: the message can't be typed. ErrNoTerminal, ErrBusy: the
// agent doesn't listen.
func (x *Session) Nudge(ctx context.Context, text string) error {
	if err := checkNudge(text); err != nil {
		return err
	}
	return x.ask(ctx, request{Op: opNudge, Text: text})
}

// Stop ends the agent with everything it started, politely first (Config.Grace), and returns when
// nothing of it is left. Stopping an ended session is no error.
func (x *Session) Stop(ctx context.Context) error {
	err := x.ask(ctx, request{Op: opStop})
	if errors.Is(err, ErrNotRunning) {
		_, err = x.Info(ctx)
	}
	return err
}

func (x *Session) ask(ctx context.Context, wanted request) error {
	conn, _, err := x.request(ctx, wanted)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Remove deletes an ended session with its output. Its lock file stays: after a removal two processes
// could hold the lock. ErrRunning: the session has not ended.
func (x *Session) Remove(ctx context.Context) error {
	info, err := x.Info(ctx) // records the end of a killed session
	if err != nil {
		return err
	}
	if info.EndedAt == nil {
		return fmt.Errorf("remove session %s: %w", x.name, ErrRunning)
	}
	lock, err := takeLock(ctx, filepath.Join(x.dir, lockFile))
	if err != nil {
		return fmt.Errorf("remove session %s: %w", x.name, err)
	}
	defer func() { _ = flock.Release(lock) }()
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return fmt.Errorf("remove session %s: %w", x.name, err)
	}
	for _, entry := range entries {
		if entry.Name() != lockFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(x.dir, entry.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", x.name, err)
	}
	return nil
}
