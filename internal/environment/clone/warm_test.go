package clone_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

const (
	key   = "0123456789abcdef"
	setUp = `mkdir -p node_modules/a/b src/build && echo dependency >node_modules/a/b/file && ln -s file node_modules/a/b/link && mkfifo node_modules/pipe &&
		echo tool >node_modules/tool && chmod 755 node_modules/tool && echo out >src/build/out && mkdir -p "$HOME/.cache" && echo cached >"$HOME/.cache/file"`
	verify   = `cat node_modules/a/b/link src/build/out "$HOME/.cache/file" README.md`
	verified = "dependency\nout\ncached\na project\n"
)

// waysBy are the ways to stand on a base; overlays take root.
func waysBy(t *testing.T) []clone.Way {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("mounting an overlay for all to see takes root: that way is left out")
		return []clone.Way{clone.Private, clone.Shared, clone.Copy}
	}
	return []clone.Way{clone.Overlay, clone.Private, clone.Shared, clone.Copy}
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

// eachLayered is a test for the ways that lay a layer over the base.
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

// keeping is a project whose environments are kept.
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

// unmountAtEnd takes away what is mounted below a temporary folder, without which it cannot be deleted.
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

// renewed is an environment on the base kept under key, or where its set-up begins.
func renewed(t testing.TB, d *clone.Driver, s environment.Spec, warm bool) environment.Environment {
	t.Helper()
	e, err := d.Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Renew(t.Context(), s.Commit, key); err != nil || got != warm {
		t.Fatalf("renewed with warm %t, %v; want %t", got, err, warm)
	}
	return e
}

// kept is an environment that was set up and kept; the only base is the second result.
func kept(t testing.TB, d *clone.Driver, p *environmenttest.Project) (environment.Environment, string) {
	t.Helper()
	e := renewed(t, d, p.Spec("site"), false)
	expect(t, e, setUp, "")
	if err := e.Keep(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	bases := bases(t, p)
	if len(bases) != 1 {
		t.Fatalf("bases are %q", bases)
	}
	return e, bases[0]
}

func bases(t testing.TB, p *environmenttest.Project) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state(p), "cache", key+".*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// snapshot is everything that can be known of what lies below a folder.
func snapshot(t testing.TB, dir string) map[string]string {
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
	after := snapshot(t, dir)
	for path := range before {
		if before[path] != after[path] {
			t.Errorf("%s was %s, is %s", path, before[path], after[path])
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
		t.Errorf("the base has other files: %d became %d", len(before), len(after))
	}
}

// attempts are ways to write to a file $1, the folder $2 it lies in, or the base $3.
var attempts = []string{
	`echo x >"$1"`, `echo x >>"$1"`, `: >"$1"`, `truncate -s 0 "$1"`, `dd if=/dev/zero of="$1" bs=1 count=1 conv=notrunc`,
	`chmod 777 "$1"`, `touch -d 2001-01-01 "$1"`, `touch -a "$1"`, `chown 65534 "$1"`, `ln "$1" "$2/other-name"`, `ln "$1" ./other-name && echo x >./other-name`,
	`sed -i s/e/x/ "$1"`, `cp /etc/hostname "$1"`, `mv "$1" "$1.moved"`, `echo x >"$2/new"`, `mkdir "$2/folder"`, `ln -sf /etc "$2/link"`,
	`chmod 777 "$2"`, `mv "$2" "$2.moved"`, `rm -rf "$2"`, `setfattr -n user.x -v y "$1"`, `chattr +i "$1"`, `perl -e 'open F, "+<", $ARGV[0] or die; truncate F, 1' "$1"`,
	`exec 9<"$1" && echo x >/proc/self/fd/9`, `echo x >"/proc/$$/root$PWD/$1"`,
	`mount --bind /tmp "$2"`, `mount -o remount,rw "$2"`, `umount "$2"`, `umount -l /workspace`, `unshare -Urm umount -l "$2"`,
	`unshare -Urm sh -c 'umount -l "$1"; mount -o remount,rw,bind "$1"; echo x >"$1/new"' sh "$2"`,
	`test -e "$3" && rm -rf "$3"/*`, `test -e "$3" && echo x >"$3/base.json"`,
}

func TestNothingInsideWritesToTheBase(t *testing.T) {
	eachWay(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		first, base := kept(t, d, p)
		before := snapshot(t, base)
		other := renewed(t, d, p.Spec("other"), true)
		for _, e := range []environment.Environment{first, other} {
			for _, attempt := range attempts {
				args := []string{"sh", "-c", `for file; do sh -c "$attempt" sh "$file" "$(dirname "$file")" "$base"; done`, "sh",
					"node_modules/tool", "node_modules/a/b/file", "README.md", "src/build/out", ".git/index", ".git/config", "/home/signalbox/.cache/file"}
				if _, err := e.Exec(t.Context(), process.Command{Args: args, Env: []string{"attempt=" + attempt, "base=" + base}}); err != nil {
					t.Fatalf("%s: %v", attempt, err)
				}
			}
			expectSame(t, before, base)
		}
		third := renewed(t, d, p.Spec("third"), true)
		expect(t, third, verify+"; git status --porcelain", verified)
		expectSame(t, before, base)
	})
}

func TestSharedFoldersCannotBeWritten(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Shared)
	_, base := kept(t, d, p)
	e := renewed(t, d, p.Spec("other"), true)
	for _, attempt := range attempts {
		r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", attempt, "sh", "node_modules/tool", "node_modules/a", base}})
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() && !strings.HasPrefix(attempt, "unshare") {
			t.Errorf("%s was not refused", attempt)
		}
	}
	expect(t, e, verify+"; git status --porcelain", verified)
	attached, err := clone.New(keepingConfig(t, p, clone.Shared)).Attach(t.Context(), p.Spec("other"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, attached, verify, verified)
}

func TestGitLooksIntoNoFileOfAKeptEnvironment(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		p, d := keeping(t, way)
		kept(t, d, p)
		adopted, err := d.Make(t.Context(), p.Spec("adopted"))
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]environment.Environment{"adopted": adopted, "renewed": renewed(t, d, p.Spec("other"), true)} {
			var said strings.Builder
			r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "GIT_TRACE2_EVENT=2 git status --porcelain"}, Stdout: &said, Stderr: &said})
			if err != nil || !r.OK() {
				t.Fatal(name, r, err)
			}
			counted := regexp.MustCompile(`"key":"refresh/sum_(lstat|scan)","value":"(\d+)"`).FindAllStringSubmatch(said.String(), -1)
			if len(counted) != 2 || counted[0][2] != "6" || counted[1][2] != "0" {
				t.Errorf("%s: of 6 files git looked at and into %q", name, counted)
			}
		}
	})
}

func TestAnOverlayComesBackAfterARestartOfTheMachine(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		p, d := keeping(t, way)
		e, base := kept(t, d, p)
		before := snapshot(t, base)
		expect(t, e, `echo work >work.txt && echo x >node_modules/x && echo x >"$HOME/x"`, "")
		restart(t, p, d, way)
		e = made(t, clone.New(keepingConfig(t, p, way)), p)
		expect(t, e, verify+`; cat work.txt node_modules/x "$HOME/x"`, verified+"work\nx\nx\n")
		expectSame(t, before, base)
	})
}

// restart takes away what a restart of the machine does.
func restart(t *testing.T, p *environmenttest.Project, d *clone.Driver, way clone.Way) {
	t.Helper()
	mounts := mountsBelow(p.Root)
	if want := map[clone.Way]int{clone.Overlay: 2}[way]; len(mounts) != want {
		t.Fatalf("mounted are %q", mounts)
	}
	for _, path := range mounts {
		if err := unix.Unmount(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	d.Die()
}

func TestWhatSomebodyPutWhereAnOverlayBelongsIsNotHidden(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		p, d := keeping(t, way)
		kept(t, d, p)
		restart(t, p, d, way)
		mine := filepath.Join(folder(p), "mine")
		if err := os.WriteFile(mine, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Make(t.Context(), p.Spec("site")); !errors.Is(err, clone.ErrOccupied) {
			t.Errorf("got error %v", err)
		}
		if _, err := os.Stat(mine); err != nil {
			t.Error(err)
		}
	})
}

func TestRemovingUnmountsAndLeavesTheBase(t *testing.T) {
	eachWay(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		_, base := kept(t, d, p)
		before := snapshot(t, base)
		inside, err := os.Open(folder(p)) // as a person's shell is
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = inside.Close() }()
		if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
			t.Fatal(err)
		}
		if left := mountsBelow(p.Root); len(left) != 0 {
			t.Errorf("mounted are %q", left)
		}
		expectSame(t, before, base)
	})
}

// A mount that nobody expects, of the base itself even, stops deletion before it begins.
func TestNothingIsDeletedThroughAMount(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	p, d := keeping(t, clone.Copy)
	e, base := kept(t, d, p)
	before := snapshot(t, base)
	for _, at := range []string{folder(p) + "/src/build", state(p) + "/site/home/.cache", state(p) + "/site/tmp"} {
		if err := unix.Mount(filepath.Join(base, "tree"), at, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		if err := d.Remove(t.Context(), p.Spec("site")); err == nil || !strings.Contains(err.Error(), "mounted") && !errors.Is(err, syscall.EBUSY) {
			t.Errorf("removed with a mount at %s: %v", at, err)
		}
		if _, err := e.Renew(t.Context(), p.Commit, key); err == nil && !strings.HasSuffix(at, "/tmp") {
			t.Errorf("renewed with a mount at %s", at)
		}
		for _, path := range mountsBelow(p.Root) {
			if err := unix.Unmount(path, 0); err != nil {
				t.Fatal(err)
			}
		}
		expectSame(t, before, base)
		if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
			t.Fatal(err)
		}
		e = renewed(t, d, p.Spec("site"), true)
	}
}

func TestTheLeastRecentlyUsedBaseGoesFirstAndOneInUseNever(t *testing.T) {
	eachWay(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		keep := func(id, key string) {
			t.Helper()
			e, err := d.Make(t.Context(), p.Spec(id))
			if err != nil {
				t.Fatal(err)
			}
			if warm, err := e.Renew(t.Context(), p.Commit, key); err != nil || warm {
				t.Fatal(warm, err)
			}
			expect(t, e, setUp, "")
			if err := e.Keep(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"one", "two", "three"} {
			keep(id, id)
		}
		for _, id := range []string{"one", "two"} {
			if err := d.Remove(t.Context(), p.Spec(id)); err != nil {
				t.Fatal(err)
			}
		}
		e, err := d.Make(t.Context(), p.Spec("four"))
		if err != nil {
			t.Fatal(err)
		}
		if warm, err := e.Renew(t.Context(), p.Commit, "one"); err != nil || !warm {
			t.Fatal(warm, err)
		}
		if err := d.Remove(t.Context(), p.Spec("four")); err != nil {
			t.Fatal(err)
		}
		list, err := d.List(t.Context())
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		var names []string
		for _, entry := range list {
			names = append(names, entry.Key+strings.Join(entry.Users, ""))
		}
		if want := "one threethree two"; strings.Join(names, " ") != want {
			t.Errorf("listed %q, want %q", names, want)
		}
		for _, step := range []struct {
			limit int64
			gone  string
		}{{list[0].Bytes * 3, ""}, {list[0].Bytes * 2, "two"}, {1, "one"}, {0, ""}} {
			for _, dry := range []bool{true, false} {
				gone, err := d.Prune(t.Context(), step.limit, dry)
				if err != nil {
					t.Fatal(err)
				}
				names := ""
				for _, entry := range gone {
					names += entry.Key
				}
				if names != step.gone {
					t.Errorf("limit %d deletes %q, want %q", step.limit, names, step.gone)
				}
			}
		}
		expect(t, madeAs(t, d, p.Spec("three")), verify, verified)
		if left, err := filepath.Glob(filepath.Join(state(p), "cache", "*")); err != nil || len(left) != 2 { // and the lock
			t.Errorf("left are %q, %v", left, err)
		}
	})
}

func madeAs(t testing.TB, d *clone.Driver, s environment.Spec) environment.Environment {
	t.Helper()
	e, err := d.Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestWhatIsLargerThanTheCacheIsNotKept(t *testing.T) {
	t.Parallel()
	p, _ := keeping(t, clone.Auto)
	c := keepingConfig(t, p, clone.Auto)
	c.Cache = 4096
	d := clone.New(c)
	e := renewed(t, d, p.Spec("site"), false)
	expect(t, e, setUp, "")
	if err := e.Keep(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	expect(t, e, verify, verified)
	if found := bases(t, p); len(found) != 0 {
		t.Errorf("kept are %q", found)
	}
}

// The fingerprint changes with what a set-up depends on and no run can change.
func TestTheFingerprintKnowsTheMachinesTools(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	bin := t.TempDir()
	fingerprint := func(id string) string {
		t.Helper()
		c := config(t, p)
		c.Variables = []string{"PATH=" + bin + ":/usr/bin:/bin"}
		return madeAs(t, clone.New(c), p.Spec(id)).Fingerprint()
	}
	seen := map[string]string{fingerprint("one"): "at first"}
	if _, ok := seen[fingerprint("two")]; !ok {
		t.Error("another environment has another one")
	}
	for i, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\n"), 0o700) },
		func() error { return os.Chtimes(filepath.Join(bin, "node"), time.Unix(1, 0), time.Unix(1, 0)) },
		func() error { return os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\n#\n"), 0o700) },
		func() error { return os.WriteFile(filepath.Join(p.Root, ".env"), []byte("KEY=other\n"), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		now := fingerprint(fmt.Sprintf("change-%d", i))
		if before, ok := seen[now]; ok {
			t.Errorf("change %d has the fingerprint of %s", i, before)
		}
		seen[now] = fmt.Sprintf("change %d", i)
	}
}

// What no command ran in is not built twice; what any command ran in is, even if it changed nothing.
func TestACloneIsBuiltAgainOnceACommandRanInIt(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Copy)
	e := made(t, d, p)
	if err := e.Reset(t.Context(), p.Commit, "refs/signalbox/kept/42"); err != nil {
		t.Fatal(err)
	}
	inode := func() uint64 {
		t.Helper()
		var s unix.Stat_t
		if err := unix.Stat(folder(p)+"/README.md", &s); err != nil {
			t.Fatal(err)
		}
		return s.Ino
	}
	hold, err := os.Open(folder(p) + "/README.md") // its inode is nobody else's as long as it is open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close() }()
	built := inode()
	renewed(t, d, p.Spec("site"), false)
	if inode() != built {
		t.Error("a clone in which nothing ran was built again")
	}
	expect(t, e, "true", "")
	renewed(t, d, p.Spec("site"), false)
	if inode() == built {
		t.Error("a clone in which a command ran was kept")
	}
	e.(*clone.Environment).HostDir()
	again, err := os.Open(folder(p) + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	built = inode()
	renewed(t, d, p.Spec("site"), false)
	if inode() == built {
		t.Error("a clone that was shown to others was kept")
	}
}
