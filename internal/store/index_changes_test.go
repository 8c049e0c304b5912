package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/workflow"
)

// onNFS makes a Store do without an index.
func onNFS(string) (unix.Statfs_t, error) { return unix.Statfs_t{Type: unix.NFS_SUPER_MAGIC}, nil }

// inPlace writes over the beginning of a file, and gives it its former mtime back.
func inPlace(name, text string) error {
	before, err := os.Stat(name)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Chtimes(name, before.ModTime(), before.ModTime())
}

func TestAListingAfterAnyChangeSaysWhatOneWithoutAnIndexSays(t *testing.T) {
	t.Parallel()
	failed := statusText(3, workflow.IssueError) + "  " // as long as when it is running
	for name, change := range map[string]func(third string) error{
		"nothing":            func(string) error { return nil },
		"rewritten in place": func(third string) error { return inPlace(third, failed) },
		"broken in place":    func(third string) error { return inPlace(third, "[") },
		"grown":              func(third string) error { return os.WriteFile(third, []byte(failed+"\n\n"), publicFile) },
		"too large to keep": func(third string) error {
			return os.WriteFile(third, []byte(failed+strings.Repeat("\n", maxIndexed)), publicFile)
		},
		"emptied": func(third string) error { return os.Truncate(third, 0) },
		"removed": os.Remove,
		"added": func(third string) error {
			return os.WriteFile(filepath.Dir(third)+"/7.json", []byte(statusText(7, workflow.IssueError)), publicFile)
		},
		"not to be read":   func(third string) error { return os.Chmod(third, 0) },
		"renamed":          func(third string) error { return os.Rename(third, filepath.Dir(third)+"/4.json") },
		"linked elsewhere": func(third string) error { return os.Link(third, third+".link") },
		"a link, and the same": func(third string) error {
			if err := os.Rename(third, third+".old"); err != nil {
				return err
			}
			return os.Symlink(filepath.Base(third)+".old", third)
		},
		"a link to the same": func(third string) error { // which its own rename would change, that of its folder does not
			dir := filepath.Dir(third)
			if err := errors.Join(os.Rename(dir, dir+"-moved"), os.Mkdir(dir, publicDir)); err != nil {
				return err
			}
			return os.Symlink(filepath.Join("..", filepath.Base(dir)+"-moved", filepath.Base(third)), third)
		},
		"a folder": func(third string) error {
			if err := os.Remove(third); err != nil {
				return err
			}
			return os.Mkdir(third, publicDir)
		},
		"a pipe": func(third string) error {
			if err := os.Remove(third); err != nil {
				return err
			}
			return unix.Mkfifo(third, publicFile)
		},
		"replaced": func(third string) error {
			before, err := os.Stat(third)
			if err != nil {
				return err
			}
			if err := os.WriteFile(third+".new", []byte(failed), publicFile); err != nil {
				return err
			}
			if err := os.Chtimes(third+".new", before.ModTime(), before.ModTime()); err != nil {
				return err
			}
			return os.Rename(third+".new", third)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fiveStatuses(t)
			third := filepath.Join(s.path, statusDir, "3.json")
			before := identityAt(t, third)
			indexListing(t, s)
			if err := change(third); err != nil {
				t.Fatal(err)
			}
			want := listed(t, s, onNFS)
			for range 3 { // with the index of before; with the one that this wrote; with what that left
				if got := listed(t, s, statfs); got != want {
					t.Errorf("listed are\n%s\nwithout an index\n%s", got, want)
				}
			}
			if name == "rewritten in place" {
				after := identityAt(t, third)
				if after.ctime = before.ctime; after != before || !strings.Contains(want, "error") {
					t.Errorf("more than its ctime tells it from what it was: %+v, %+v\n%s", before, after, want)
				}
			}
		})
	}
}
