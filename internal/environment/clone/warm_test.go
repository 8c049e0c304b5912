package clone_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// attempts are ways to write to a file $1, its folder $2, or the snapshot $3.
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

func TestNothingInsideWritesToTheSnapshot(t *testing.T) {
	eachWay(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		first, snapshot := kept(t, d, p)
		before := contents(t, snapshot)
		other := restored(t, d, p.Spec("other"), true)
		for _, e := range []environment.Environment{first, other} {
			args := append([]string{"sh", "-c", `for attempt; do
				for file in node_modules/tool node_modules/a/b/file ./README.md src/build/out .git/index .git/config "$HOME/.cache/file"; do
					(set -- "$file" "${file%/*}" "$base"; eval "$attempt")
				done
			done; true`, "sh"}, attempts...)
			if r, err := e.Exec(t.Context(), process.Command{Args: args, Env: []string{"base=" + snapshot}}); err != nil || !r.OK() {
				t.Fatal(r, err)
			}
			expectSame(t, before, snapshot)
		}
		third := restored(t, d, p.Spec("third"), true)
		expect(t, third, verify+"; git status --porcelain", verified)
		expectSame(t, before, snapshot)
	})
}

func TestSharedFoldersCannotBeWritten(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Shared)
	_, snapshot := kept(t, d, p)
	e := restored(t, d, p.Spec("other"), true)
	args := append([]string{"sh", "-c", `for attempt; do sh -c "$attempt" sh node_modules/tool node_modules/a "$base" >&2 && echo "$attempt"; done; true`, "sh", "true"}, attempts...)
	var did strings.Builder
	r, err := e.Exec(t.Context(), process.Command{Args: args, Env: []string{"base=" + snapshot}, Stdout: &did})
	if err != nil || !r.OK() || !strings.HasPrefix(did.String(), "true\n") {
		t.Fatal(r, err, did.String())
	}
	for attempt := range strings.Lines(strings.TrimPrefix(did.String(), "true\n")) {
		if !strings.HasPrefix(attempt, "unshare") {
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

func TestGitReadsNoFileOfASnapshot(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		p, d := keeping(t, way)
		kept(t, d, p)
		adopted, err := d.Make(t.Context(), p.Spec("adopted"))
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]environment.Environment{"adopted": adopted, "renewed": restored(t, d, p.Spec("other"), true)} {
			var said strings.Builder
			r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "GIT_TRACE2_EVENT=2 git status --porcelain"}, Stdout: &said, Stderr: &said})
			if err != nil || !r.OK() {
				t.Fatal(name, r, err)
			}
			counted := regexp.MustCompile(`"key":"refresh/sum_(lstat|scan)","value":"(\d+)"`).FindAllStringSubmatch(said.String(), -1)
			if len(counted) != 2 || counted[0][2] != "6" || counted[1][2] != "0" {
				t.Errorf("%s: of 6 files git checked and read %q", name, counted)
			}
		}
	})
}

func TestAnOverlayComesBackAfterARestartOfTheMachine(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		p, d := keeping(t, way)
		e, snapshot := kept(t, d, p)
		before := contents(t, snapshot)
		expect(t, e, `echo work >work.txt && echo x >node_modules/x && echo x >"$HOME/x"`, "")
		restart(t, p, d, way)
		e = made(t, clone.New(keepingConfig(t, p, way)), p)
		expect(t, e, verify+`; cat work.txt node_modules/x "$HOME/x"`, verified+"work\nx\nx\n")
		expectSame(t, before, snapshot)
	})
}

// restart unmounts everything, as a restart of the machine does.
func restart(t *testing.T, p *environmenttest.Project, d *clone.Driver, way clone.Way) {
	t.Helper()
	mounts := mountsBelow(p.Root)
	if want := map[clone.Way]int{clone.Overlay: 2}[way]; len(mounts) != want {
		t.Fatalf("mounted: %q", mounts)
	}
	for _, path := range mounts {
		if err := unix.Unmount(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	d.Die()
}

func TestFilesOfOthersAtAMountPointAreNotHidden(t *testing.T) {
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

func TestRemovingUnmountsAndLeavesTheSnapshot(t *testing.T) {
	eachWay(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		_, snapshot := kept(t, d, p)
		before := contents(t, snapshot)
		inside, err := os.Open(folder(p)) // as a person's shell is
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = inside.Close() }()
		if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
			t.Fatal(err)
		}
		if left := mountsBelow(p.Root); len(left) != 0 {
			t.Errorf("still mounted: %q", left)
		}
		expectSame(t, before, snapshot)
	})
}

// An unexpected mount, even of the snapshot itself, stops deletion before it begins.
func TestNothingIsDeletedThroughAMount(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	p, d := keeping(t, clone.Copy)
	e, snapshot := kept(t, d, p)
	before := contents(t, snapshot)
	for _, at := range []string{folder(p) + "/src/build", state(p) + "/site/home/.cache", state(p) + "/site/tmp"} {
		if err := unix.Mount(filepath.Join(snapshot, "tree"), at, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		if err := d.Remove(t.Context(), p.Spec("site")); err == nil || !strings.Contains(err.Error(), "mounted") && !errors.Is(err, syscall.EBUSY) {
			t.Errorf("removed with a mount at %s: %v", at, err)
		}
		if _, err := e.Restore(t.Context(), p.Commit, key); err == nil && !strings.HasSuffix(at, "/tmp") {
			t.Errorf("restored with a mount at %s", at)
		}
		for _, path := range mountsBelow(p.Root) {
			if err := unix.Unmount(path, 0); err != nil {
				t.Fatal(err)
			}
		}
		expectSame(t, before, snapshot)
		if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
			t.Fatal(err)
		}
		e = restored(t, d, p.Spec("site"), true)
	}
}
