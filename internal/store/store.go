// Package store owns the documents below a project root: where they are, what
// their versions and limits are, who may write them now, and that a reader sees
// either the old document or the new one, never a part of one, whatever dies at
// whatever instant. It refuses to guess: a document that it cannot read
// strictly is an error and stays on disk as it is.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/store/watch"
)

// PrivateDir has the configuration, and what Signalbox keeps for itself in PrivateFolders.
const PrivateDir = ".signalbox"

// Folders below the project root, with slashes.
const (
	privateDir = PrivateDir
	locksDir   = ".signalbox/locks"
	statusDir  = ".worktrees/.status"
	runsDir    = "runs"
)

// Permissions: what people and scripts read with jq, and what is ours alone.
const (
	publicFile  = 0o644
	publicDir   = 0o755
	privateFile = 0o600
	privateMode = 0o700
)

// ignoreName hides from git what is in privateDir.
const (
	ignoreName = ".gitignore"
	ignoreFile = "*\n!config.yaml\n"
)

// Config is what a Store needs to know. Only Root must be set.
type Config struct {
	// Root is the project's folder.
	Root string
	// Clock is time.Now unless a test says otherwise.
	Clock func() time.Time
	// AllowNetworkFS: the user vouches that flock works between all machines that share Root.
	AllowNetworkFS bool
	// ReadOnly makes, mends and sweeps nothing: the Store reads what is there, also on a file
	// system that cannot be written, and refuses every change with ErrReadOnly.
	ReadOnly bool
	// Redact takes secrets out of every text of a document before it is written (H6).
	Redact func(string) string
	// Mended is told when a document was read in an older form, and what was done about it. The
	// next update writes the new form.
	Mended func(path string, notes []string)
	// Logger is told what was swept or mended; nil discards it.
	Logger *slog.Logger
}

// Store is the documents of one project. It is safe for concurrent use, by
// goroutines and by processes alike.
type Store struct {
	path   string
	root   *os.Root
	locks  *folder
	clock  func() time.Time
	redact func(string) string
	log    *slog.Logger
	mended func(path string, notes []string)
	self   process.Identity
	// shared: the file system may be in use by another machine at this moment.
	shared   bool
	readOnly bool
	watches  *watch.Hub
}

// Open opens the project at cfg.Root and makes what a Store needs below it. It
// changes nothing when it refuses the file system (ErrNetworkFS, ErrReadOnly).
func Open(ctx context.Context, cfg Config) (*Store, error) {
	return open(ctx, cfg, statfs)
}

func open(ctx context.Context, cfg Config, stat statfsFunc) (*Store, error) {
	path, err := filepath.Abs(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("find project root %q: %w", cfg.Root, err)
	}
	shared, err := checkFilesystem(path, stat, cfg.AllowNetworkFS)
	if err != nil && !cfg.ReadOnly {
		return nil, err
	}
	self, err := process.Current()
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, clock: cfg.Clock, redact: cfg.Redact, log: cfg.Logger, mended: cfg.Mended, self: self, shared: shared, readOnly: cfg.ReadOnly}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.watches = &watch.Hub{Log: s.log, Every: watch.PollEvery}
	if s.root, err = os.OpenRoot(path); err != nil {
		return nil, fmt.Errorf("open project root: %w", err)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) (err error) {
	if s.readOnly {
		if s.locks, err = s.openFolder(locksDir); errors.Is(err, fs.ErrNotExist) {
			s.locks, err = &folder{path: locksDir, readOnly: true}, nil
		}
		return err
	}
	private, err := s.makeFolder(privateDir, privateMode)
	if err != nil {
		return err
	}
	defer private.close()
	if _, err = private.stat(ignoreName); errors.Is(err, fs.ErrNotExist) {
		err = private.put(ignoreName, []byte(ignoreFile), privateFile)
	}
	if err != nil {
		return err
	}
	if s.locks, err = s.makeFolder(locksDir, privateMode); err != nil {
		return err
	}
	return s.sweepShallow(ctx)
}

// Close gives the Store's descriptors back. Locks and writers are closed by who took them.
func (s *Store) Close() error {
	if s.locks != nil {
		s.locks.close()
	}
	return s.root.Close()
}

// Abs is the absolute path of rel, a slash path below the project root.
func (s *Store) Abs(rel string) (string, error) {
	local, err := filepath.Localize(rel)
	if err != nil {
		return "", fmt.Errorf("path %q is not inside the project: %w", rel, err)
	}
	return filepath.Join(s.path, local), nil
}

// Rel is the slash path below the project root of an absolute path.
func (s *Store) Rel(abs string) (string, error) {
	rel, err := filepath.Rel(s.path, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("path %q is not inside the project %s", abs, s.path)
	}
	return filepath.ToSlash(rel), nil
}
