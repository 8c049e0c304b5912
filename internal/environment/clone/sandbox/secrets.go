package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// configured are the system's folders that also hold secrets: keys of services, passwords of databases, credentials of daemons.
var configured = []string{"/etc", "/opt", "/usr/local/etc"}

// findSecrets returns mounts that hide the files and folders there that we may read and not every user of this machine may.
func findSecrets() Mounts {
	m := Mounts{}
	for _, top := range configured {
		// If we can't read a place, commands can't either.
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
				m[path] = Mount{Kind: Empty, sealed: true}
				return fs.SkipDir
			case info.Mode().IsRegular() && info.Size() > 0 && ours(info, 0o4):
				m[path] = Mount{Kind: ReadOnly, Source: os.DevNull}
			}
			return nil
		})
	}
	return m
}

// ours reports whether we have the rights (as the last octal digit of a mode) to a file and others don't: as its owner or as a
// member of its group, because commands have none of root's capabilities.
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

// guards are the options that come after bwrap's mount of /proc and close the parts of it that are the machine's. Settings of
// the kernel (which program it starts when another crashes) belong to user 0, who needs no capability to write them, and we
// may be user 0. The list of keys shows what others have.
var guards = sync.OnceValue(func() (options []string) {
	if os.Geteuid() == 0 {
		options = append(options, string(ReadOnly), "/proc/sys", "/proc/sys")
	}
	if _, err := os.Stat("/proc/keys"); err == nil {
		options = append(options, string(ReadOnly), os.DevNull, "/proc/keys")
	}
	return options
})
