package store

import (
	"errors"
	"fmt"

	"signalbox/internal/store/strict"
)

// Errors that a caller can act on. A missing document matches fs.ErrNotExist; a
// run that already exists matches fs.ErrExist.
var (
	// ErrBroken: a document can't be read strictly. It is on disk unchanged; see BrokenError.
	ErrBroken = errors.New("document is broken")
	// ErrWrite: a document could not be written durably (reason code STAGE_WRITE_FAILED). On
	// disk is the old one or the new one, whole; only reading it again tells which.
	ErrWrite = errors.New("document was not written durably")
	// ErrLockLost: the lock file was replaced or taken over.
	ErrLockLost = errors.New("lock was lost")
	// ErrPlanChanged: planning.json is no longer the plan that the run follows.
	ErrPlanChanged = errors.New("planning.json was changed by another program")
	// ErrNetworkFS: locks can't be trusted on the project's file system.
	ErrNetworkFS = errors.New("project is on a network file system")
	// ErrReadOnly: nothing can be written on the project's file system, or the Store was opened to read only.
	ErrReadOnly = errors.New("project cannot be written")
	// ErrName: an id or a file name doesn't match its pattern.
	ErrName = errors.New("name is not allowed")
)

// BrokenError is the document that is broken, the place and the reason. It matches ErrBroken.
type BrokenError struct {
	// Path is relative to the project root.
	Path   string
	Reason string
	// Line and Column (in characters) count from 1; 0 when the flaw is the file's, not its content's.
	Line, Column int
	Err          error
}

func (e *BrokenError) Error() string { return fmt.Sprintf("read %s: %s", e.Place(), e.Reason) }

// Place returns file:line:column.
func (e *BrokenError) Place() string {
	if e.Line == 0 {
		return e.Path
	}
	return fmt.Sprintf("%s:%d:%d", e.Path, e.Line, e.Column)
}

// File returns the file alone, as a command takes it.
func (e *BrokenError) File() string { return e.Path }

// Unwrap lets errors.Is find ErrBroken and the cause.
func (e *BrokenError) Unwrap() []error { return []error{ErrBroken, e.Err} }

func broken(path string, data []byte, err error) *BrokenError {
	line, column := 0, 0
	if data != nil {
		line, column = strict.Position(data, err)
	}
	return &BrokenError{Path: path, Reason: err.Error(), Line: line, Column: column, Err: err}
}

func writeError(path string, err error) error {
	return fmt.Errorf("write %s: %w: %w", path, ErrWrite, err)
}
