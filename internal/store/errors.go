package store

import (
	"errors"
	"fmt"

	"signalbox/internal/store/strict"
)

// What a caller can do something about. A document that is not there matches
// fs.ErrNotExist; a run that is there already matches fs.ErrExist.
var (
	// ErrBroken: a document cannot be read strictly. It is on disk as it was; see BrokenError.
	ErrBroken = errors.New("document is broken")
	// ErrWrite: a document could not be written durably (reason code STAGE_WRITE_FAILED). The
	// state on disk is the old or the new one, whole; only reading it again tells which.
	ErrWrite = errors.New("document was not written durably")
	// ErrLockLost: the lock file was replaced or taken over.
	ErrLockLost = errors.New("lock was lost")
	// ErrPlanChanged: planning.json is not the plan any more that the run follows.
	ErrPlanChanged = errors.New("planning.json was changed by somebody else")
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
	// Line and Column (in characters) count from 1; 0 when the file itself is meant, not what is in it.
	Line, Column int
	Err          error
}

func (e *BrokenError) Error() string { return fmt.Sprintf("read %s: %s", e.Place(), e.Reason) }

// Place is file:line:column.
func (e *BrokenError) Place() string {
	if e.Line == 0 {
		return e.Path
	}
	return fmt.Sprintf("%s:%d:%d", e.Path, e.Line, e.Column)
}

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
