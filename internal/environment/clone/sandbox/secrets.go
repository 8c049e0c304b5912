package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// configured are the system's folders that also hold what is not for everybody: keys of services,
// passwords of databases, credentials of daemons.
var configured = []string{"/etc", "/opt", "/usr/local/etc"}

// findSecrets are the files and folders there that not every user of this machine may read, and
// we may.
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
			switch {
			case d.IsDir() && ours(info, 0o5):
				folders = append(folders, path)
				return fs.SkipDir
			case info.Mode().IsRegular() && info.Size() > 0 && ours(info, 0o4):
				files = append(files, path)
			}
			return nil
		})
	}
	return files, folders
}

// ours reports whether we have the rights (as the last octal digit of a mode) to a file and
// others have not: as its owner or of its group, for commands have none of root's capabilities.
func ours(info fs.FileInfo, rights fs.FileMode) bool {
	mode := info.Mode().Perm()
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case mode&rights == rights:
		return false
	case ok && int(stat.Uid) == os.Geteuid():
		return true
	}
	groups, err := os.Getgroups()
	member := err != nil || ok && (int(stat.Gid) == os.Getegid() || slices.Contains(groups, int(stat.Gid)))
	return member && mode&(rights<<3) != 0
}

// hideSecrets puts nothing in the place of what is there. One that is gone since would be made
// as a mount point, which a read-only folder refuses.
func (m Mounts) hideSecrets(files, folders []string) {
	for _, path := range files {
		if _, err := os.Lstat(path); err == nil {
			m[path] = Mount{Kind: ReadOnly, Source: os.DevNull}
		}
	}
	for _, path := range folders {
		if _, err := os.Lstat(path); err == nil {
			m[path] = Mount{Kind: Empty, sealed: true}
		}
	}
}

// guards are bwrap's options that come after the one that mounts /proc, to close what is the
// machine's in it. Settings of the kernel (which program it starts when another crashes) belong
// to user 0, who needs no capability to write them, and that may be who we are. The list of keys
// tells what others have.
var guards = sync.OnceValue(func() (options []string) {
	if os.Geteuid() == 0 {
		options = append(options, string(ReadOnly), "/proc/sys", "/proc/sys")
	}
	if _, err := os.Stat("/proc/keys"); err == nil {
		options = append(options, string(ReadOnly), os.DevNull, "/proc/keys")
	}
	return options
})
