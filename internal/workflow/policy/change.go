package policy

import (
	"cmp"

	"signalbox/internal/workflow/wording"
)

// FileChange is one file of a recorded change, as git's raw diff tells it.
type FileChange struct {
	// Path is relative to the repository's root, with slashes, as git stores it: any bytes but NUL.
	Path string
	// OldMode and NewMode are git's six octal digits; "000000" where the file is not.
	OldMode, NewMode string
	// Added and Deleted are lines; -1 for a binary file.
	Added, Deleted int
	// Shown is the path without secrets; empty where it has none.
	Shown string
	// OwnRequest: the file is the request that the run is of.
	OwnRequest bool
	// Size is bytes after the change; 0 when deleted.
	Size int64
}

// name is the path as it may be shown.
func (f FileChange) name() string { return wording.Shown(cmp.Or(f.Shown, f.Path)) }
