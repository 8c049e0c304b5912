package clone

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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

// In a process file system of the command's own lies what is the whole machine's. Settings of the
// kernel (which program it starts when another crashes) belong to user 0, who needs no
// capability to write them, and that may be who we are; the others tell of what is not inside.
var (
	settingsInProc = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/fs", "/proc/acpi", "/proc/mtrr", "/proc/scsi"}
	tellingInProc  = []string{"/proc/keys", "/proc/key-users", "/proc/kcore", "/proc/timer_list", "/proc/sched_debug"}
)

// guards are bwrap's options that close them, after the one that mounts /proc.
var guards = sync.OnceValue(func() (options []string) {
	for _, path := range settingsInProc {
		if _, err := os.Stat(path); err == nil && os.Geteuid() == 0 {
			options = append(options, string(readOnly), path, path)
		}
	}
	for _, path := range tellingInProc {
		if _, err := os.Stat(path); err == nil {
			options = append(options, string(readOnly), os.DevNull, path)
		}
	}
	return options
})
