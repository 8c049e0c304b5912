package workflow

// FileChange is one file of a recorded change, as git's raw diff tells it.
type FileChange struct {
	// Path is relative to the repository's root, with slashes, as git stores it: any bytes but NUL.
	Path string
	// OldMode and NewMode are git's six octal digits; "000000" where the file is not.
	OldMode, NewMode string
	// Added and Deleted are lines; -1 for a binary file.
	Added, Deleted int
	// Size is bytes after the change; 0 when deleted.
	Size int64
}
