package clone_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
)

const (
	key   = "0123456789abcdef"
	setup = `mkdir -p node_modules/a/b src/build && echo dependency >node_modules/a/b/file && ln -s file node_modules/a/b/link && mkfifo node_modules/pipe &&
		echo tool >node_modules/tool && chmod 755 node_modules/tool && echo out >src/build/out && mkdir -p "$HOME/.cache" && echo cached >"$HOME/.cache/file"`
	verify   = `cat node_modules/a/b/link src/build/out "$HOME/.cache/file" README.md`
	verified = "dependency\nout\ncached\na project\n"
)

// waysBy returns the ways to use a snapshot; overlays take root.
func waysBy(t *testing.T) []clone.Way {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("mounting an overlay for all to see takes root: that way is left out")
		return []clone.Way{clone.Private, clone.Home, clone.Shared, clone.Copy}
	}
	return []clone.Way{clone.Overlay, clone.Private, clone.Home, clone.Shared, clone.Copy}
}

func eachWay(t *testing.T, test func(t *testing.T, p *environmenttest.Project, d *clone.Driver)) {
	t.Parallel()
	for _, way := range waysBy(t) {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			p, d := keeping(t, way)
			test(t, p, d)
		})
	}
}

// eachLayered runs a test for the ways that mount a layer over the snapshot.
func eachLayered(t *testing.T, test func(t *testing.T, way clone.Way)) {
	t.Parallel()
	for _, way := range waysBy(t) {
		if way != clone.Overlay && way != clone.Private {
			continue
		}
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			test(t, way)
		})
	}
}

// keeping returns a project and a driver that keeps snapshots.
func keeping(t testing.TB, way clone.Way) (*environmenttest.Project, *clone.Driver) {
	t.Helper()
	p := environmenttest.NewProject(t)
	p.Write(t, ".git/info/exclude", "node_modules/\n")
	unmountAtEnd(t, p.Root)
	return p, clone.New(keepingConfig(t, p, way))
}

func keepingConfig(t testing.TB, p *environmenttest.Project, way clone.Way) clone.Config {
	c := config(t, p)
	c.Warm, c.Cache = way, 1<<30
	return c
}

// unmountAtEnd unmounts everything below a temporary folder, so that it can be deleted.
func unmountAtEnd(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(func() {
		for _, path := range mountsBelow(dir) {
			if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
				t.Error(path, err)
			}
		}
	})
}

func mountsBelow(dir string) (paths []string) {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			paths = append(paths, fields[4])
		}
	}
	return paths
}

// restored makes an environment and restores it, from the snapshot under key if warm is set.
func restored(t testing.TB, d *clone.Driver, s environment.Spec, warm bool) environment.Environment {
	t.Helper()
	e, err := d.Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Restore(t.Context(), s.Commit, key); err != nil || got != warm {
		t.Fatalf("restored with warm %t, %v; want %t", got, err, warm)
	}
	return e
}

// kept sets an environment up and takes the only snapshot, whose folder is the second result.
func kept(t testing.TB, d *clone.Driver, p *environmenttest.Project) (environment.Environment, string) {
	t.Helper()
	e := restored(t, d, p.Spec("site"), false)
	expect(t, e, setup, "")
	if err := e.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	snapshots := snapshots(t, p)
	if len(snapshots) != 1 {
		t.Fatalf("snapshots: %q", snapshots)
	}
	return e, snapshots[0]
}

func snapshots(t testing.TB, p *environmenttest.Project) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state(p), "cache", key+".*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// contents describes every file below a folder in full.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var s unix.Stat_t
		if err := unix.Lstat(path, &s); err != nil {
			return err
		}
		names := make([]byte, 1024)
		n, _ := unix.Llistxattr(path, names)
		content := ""
		switch entry.Type() {
		case fs.ModeSymlink:
			content, err = os.Readlink(path)
		case 0:
			var data []byte
			data, err = os.ReadFile(path)
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		if filepath.Base(path) == "base.json" {
			s.Mtim, s.Ctim = unix.Timespec{}, unix.Timespec{} // the time of the last use
		}
		found[path] = fmt.Sprint(s.Ino, s.Mode, s.Nlink, s.Uid, s.Gid, s.Size, s.Mtim, s.Ctim, string(names[:max(n, 0)]), content)
		return err
	})
	if err != nil || len(found) < 10 {
		t.Fatalf("%d files in %s: %v", len(found), dir, err)
	}
	return found
}

func expectSame(t testing.TB, before map[string]string, dir string) {
	t.Helper()
	after := contents(t, dir)
	for path := range before {
		if before[path] != after[path] {
			t.Errorf("%s was %s, is %s", path, before[path], after[path])
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
		t.Errorf("the snapshot has other files: %d became %d", len(before), len(after))
	}
}
