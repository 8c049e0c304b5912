package store

import (
	"bytes"
	"errors"
	"fmt"
)

// What a caller can do something about. A document that is not there matches
// fs.ErrNotExist; a run that is there already matches fs.ErrExist.
var (
	// ErrBroken: a document cannot be read strictly. It is on disk as it was; see BrokenError.
	ErrBroken = errors.New("document is broken")
	// ErrVersion: a document was written by another version of its format. Matches ErrBroken too.
	ErrVersion = errors.New("document has an unknown version")
	// ErrWrite: a document could not be written durably (reason code STAGE_WRITE_FAILED). The
	// state on disk is the old or the new one, whole; only reading it again tells which.
	ErrWrite = errors.New("document was not written durably")
	// ErrFenced: somebody with a later lock has written the run; its former runner must stop.
	ErrFenced = errors.New("run was taken over under a later lock")
	// ErrLockLost: the lock file was replaced or taken over.
	ErrLockLost = errors.New("lock was lost")
	// ErrNetworkFS: locks cannot be trusted on the project's file system.
	ErrNetworkFS = errors.New("project is on a network file system")
	// ErrReadOnly: nothing can be written on the project's file system, or the Store was opened to read only.
	ErrReadOnly = errors.New("project cannot be written")
	// ErrName: an id or a file name does not keep to its pattern.
	ErrName = errors.New("name is not allowed")
)

// BrokenError says which document is broken, where and why. It matches ErrBroken.
type BrokenError struct {
	// Path is relative to the project root.
	Path   string
	Reason string
	// Line counts from 1; 0 when the whole document is meant.
	Line int
	Err  error
}

func (e *BrokenError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	return fmt.Sprintf("read %s: %s", where, e.Reason)
}

// Unwrap lets errors.Is find ErrBroken and the cause.
func (e *BrokenError) Unwrap() []error { return []error{ErrBroken, e.Err} }

// flaw is why a document is broken, before its path is known. Offset is -1 for the whole document.
type flaw struct {
	offset int64
	err    error
}

func (f *flaw) Error() string { return f.err.Error() }
func (f *flaw) Unwrap() error { return f.err }

func broken(path string, data []byte, err error) error {
	line := 0
	if f := (*flaw)(nil); errors.As(err, &f) && f.offset >= 0 {
		line = 1 + bytes.Count(data[:min(f.offset, int64(len(data)))], []byte("\n"))
	}
	return &BrokenError{Path: path, Reason: err.Error(), Line: line, Err: err}
}

func writeError(path string, err error) error {
	return fmt.Errorf("write %s: %w: %w", path, ErrWrite, err)
}
