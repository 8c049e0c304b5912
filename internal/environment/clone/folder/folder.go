// Package folder handles folders of this machine in which commands of strangers wrote: it looks for mounts in them, copies
// and deletes them, and follows no link out of them.
package folder

import (
	"os"
)

// Is reports whether path is a folder and no link.
func Is(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
