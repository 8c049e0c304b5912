package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnsafeFileSystemsAreRefusedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ, flags int64
		allow      bool
		want       error
	}{
		"NFS":           {typ: unix.NFS_SUPER_MAGIC, want: ErrNetworkFS},
		"CIFS":          {typ: unix.CIFS_SUPER_MAGIC, want: ErrNetworkFS},
		"CIFS extended": {typ: int64(int32(-11317950)), want: ErrNetworkFS}, // 0xFF534D42 where the field is signed
		"NFS allowed":   {typ: unix.NFS_SUPER_MAGIC, allow: true},
		"ext4":          {typ: unix.EXT4_SUPER_MAGIC},
		"read-only":     {typ: unix.EXT4_SUPER_MAGIC, flags: unix.ST_RDONLY, want: ErrReadOnly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := Open(t.Context(), Config{Root: dir, AllowNetworkFS: c.allow, statfs: func(_ string, st *unix.Statfs_t) error {
				*st = unix.Statfs_t{Type: c.typ, Flags: c.flags}
				return nil
			}})
			if !errors.Is(err, c.want) {
				t.Fatal(err)
			}
			entries, _ := os.ReadDir(dir)
			if (c.want == nil) != (len(entries) > 0) {
				t.Fatalf("made %v", entries)
			}
			if s != nil {
				_ = s.Close()
			}
		})
	}
}

func TestOnlyWhatDeadWritersLeftIsSwept(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	mine := fmt.Sprintf(".tmp-%d-%d-9-a", s.self.PID, s.self.Start)
	reused := fmt.Sprintf(".tmp-%d-%d-9-a", s.self.PID, s.self.Start-1)
	kept := []string{mine, ".tmp-a", "tmp-1-1-1-a", "a.json"}
	swept := []string{reused, ".tmp-999999999-1-1-a", ".signalbox/pulls/.tmp-999999999-1-1-a", ".worktrees/.status/.tmp-999999999-1-1-a"}
	for _, name := range append(swept, kept...) {
		write(t, s, name, "")
	}
	openAt(t, Config{Root: s.path})
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(s.path, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range swept {
		if _, err := os.Stat(filepath.Join(s.path, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestOurFolderIsIgnoredByGitButForTheConfiguration(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	info, err := os.Stat(filepath.Join(s.path, ".signalbox"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", s.path, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, ignored := range map[string]bool{"locks/slot-0.lock": true, "pulls/7.json": true, "config.yaml": false, ".gitignore": true} {
		err := exec.CommandContext(t.Context(), "git", "-C", s.path, "check-ignore", "-q", ".signalbox/"+name).Run()
		if (err == nil) != ignored {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, s, ".signalbox/.gitignore", "mine")
	openAt(t, Config{Root: s.path})
	if got := read(t, s, ".signalbox/.gitignore"); got != "mine" {
		t.Errorf("a person's .gitignore became %q", got)
	}
}
