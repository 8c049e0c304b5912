// Package store owns the documents below a project root: their places, versions,
// limits and locks. A reader sees either the old document or the new one, never a
// part of one, even after a crash. It refuses to guess: a document that it can't
// read strictly is an error and stays on disk as it is.
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

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/store/watch"
)

// PrivateDir holds the configuration and, in PrivateFolders, Signalbox's own files.
const PrivateDir = ".signalbox"

// Folders below the project root, with slashes.
const (
	privateDir = PrivateDir
	locksDir   = ".signalbox/locks"
	statusDir  = ".worktrees/.status"
	runsDir    = "runs"
)

// Permissions of what people and scripts read with jq, and of what only Signalbox reads.
const (
	publicFile  = 0o644
	publicDir   = 0o755
	privateFile = 0o600
	privateMode = 0o700
)

// The file at ignoreName hides the rest of privateDir from git.
const (
	ignoreName = ".gitignore"
	ignoreFile = "*\n!config.yaml\n"
)

// Config configures a Store. Only Root must be set.
type Config struct {
	// Root is the project's folder.
	Root string
	// Clock is time.Now unless a test says otherwise.
	Clock func() time.Time
	// AllowNetworkFS: the user vouches that flock works between all machines sharing Root.
	AllowNetworkFS bool
	// ReadOnly makes, fixes and sweeps nothing: the Store reads what is there, even from a file
	// system that can't be written, and refuses every change with ErrReadOnly.
	ReadOnly bool
	// Redact removes secrets from every text of a document before it is written.
	Redact func(string) string
	// Fixed is called when a document was read in an older form, with notes about what changed.
	// The next update writes the new form.
	Fixed func(path string, notes []string)
	// Logger reports what was swept or fixed; nil discards it.
	Logger *slog.Logger
	// statfs is unix.Statfs unless a test says otherwise.
	statfs func(path string, st *unix.Statfs_t) error
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
	fixed  func(path string, notes []string)
	self   process.Identity
	// shared: another machine may be using the file system now.
	shared   bool
	readOnly bool
	watches  *watch.Hub
	resting  *resting
}

// Open opens the project at cfg.Root and makes what a Store needs below it. It
// changes nothing when it refuses the file system (ErrNetworkFS, ErrReadOnly).
func Open(ctx context.Context, cfg Config) (*Store, error) {
	path, err := filepath.Abs(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("find project root %q: %w", cfg.Root, err)
	}
	shared, err := checkFilesystem(path, cfg)
	if err != nil && !cfg.ReadOnly {
		return nil, err
	}
	self, err := process.Current()
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, clock: cfg.Clock, redact: cfg.Redact, log: cfg.Logger, fixed: cfg.Fixed, self: self, shared: shared, readOnly: cfg.ReadOnly, resting: &resting{}}
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

// prepare opens the locks, makes what is missing, and removes what dead writers left where every program writes.
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
	// A run's own folders are swept when the run is opened or its request gets another run, so that a start doesn't
	// read the folder of every run there ever was.
	folders := []string{".", privateDir, statusDir}
	entries, err := s.list(privateDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, privateDir+"/"+entry.Name())
		}
	}
	for _, name := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.sweep(name); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the Store's descriptors. The caller closes the locks and writers it took.
func (s *Store) Close() error {
	if s.locks != nil {
		s.locks.close()
	}
	return s.root.Close()
}

// Abs returns the absolute path of rel, a slash path below the project root.
func (s *Store) Abs(rel string) (string, error) {
	local, err := filepath.Localize(rel)
	if err != nil {
		return "", fmt.Errorf("path %q is not inside the project: %w", rel, err)
	}
	return filepath.Join(s.path, local), nil
}

// Rel returns the slash path below the project root of an absolute path.
func (s *Store) Rel(abs string) (string, error) {
	rel, err := filepath.Rel(s.path, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("path %q is not inside the project %s", abs, s.path)
	}
	return filepath.ToSlash(rel), nil
}

// networkTypes are the file systems on which flock may not reach the other
// machines, or may lose a lock. FUSE is one of them because its type doesn't
// tell sshfs from a local file system.
var networkTypes = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.SMB2_SUPER_MAGIC: "SMB2", unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS",
	unix.AFS_FS_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda", unix.V9FS_MAGIC: "9p", unix.NCP_SUPER_MAGIC: "NCP",
	unix.FUSE_SUPER_MAGIC: "FUSE", unix.OCFS2_SUPER_MAGIC: "OCFS2", 0x0BD00BD0: "Lustre",
	0x01161970: "GFS2", 0x47504653: "GPFS", 0x786F4256: "vboxsf",
}

// checkFilesystem refuses a file system that can't keep documents, and reports
// whether other machines may be using it now.
func checkFilesystem(path string, cfg Config) (shared bool, err error) {
	if cfg.statfs == nil {
		cfg.statfs = unix.Statfs
	}
	var st unix.Statfs_t
	if err := cfg.statfs(path, &st); err != nil {
		return false, fmt.Errorf("inspect file system of %s: %w", path, err)
	}
	if st.Flags&unix.ST_RDONLY != 0 {
		return false, fmt.Errorf("%w: %s", ErrReadOnly, path)
	}
	// Type is 32 bits wide in the kernel; sign extension would hide the large ones.
	name, network := networkTypes[int64(uint32(st.Type))]
	if network && !cfg.AllowNetworkFS {
		return false, fmt.Errorf("%w (%s): %s; locks are not reliable there unless you allow it", ErrNetworkFS, name, path)
	}
	return network, nil
}
