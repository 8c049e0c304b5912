package clone

import (
	"io/fs"
	"os"
	"path/filepath"
)

// configured are the system's folders that also hold what is not for everybody: keys of services,
// passwords of databases, credentials of daemons.
var configured = []string{"/etc", "/opt", "/usr/local/etc"}

// findSecrets are the files and folders there that not every user of this machine may read. We
// may be one who can, and commands would be too.
func findSecrets() (files, folders []string) {
	for _, top := range configured {
		// What cannot be looked at cannot be read by commands either.
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			switch mode := info.Mode(); {
			case mode.IsDir() && mode.Perm()&0o005 != 0o005:
				folders = append(folders, path)
				return fs.SkipDir
			case mode.IsRegular() && mode.Perm()&0o004 == 0:
				files = append(files, path)
			}
			return nil
		})
	}
	return files, folders
}

// hideSecrets puts nothing in the place of what is there. One that is gone since would be made
// as a mount point, which a read-only folder refuses.
func (m mounts) hideSecrets(files, folders []string) {
	for _, path := range files {
		if _, err := os.Lstat(path); err == nil {
			m[path] = mount{kind: readOnly, source: os.DevNull}
		}
	}
	for _, path := range folders {
		if _, err := os.Lstat(path); err == nil {
			m[path] = mount{kind: empty, sealed: true}
		}
	}
}
