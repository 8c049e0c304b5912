package clone_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"

	"signalbox/internal/process/processtest"
)

// unprivileged are the tests that run again without root, with the remaining ways.
const unprivileged = "TestConformance/in_bubblewrap,_kept_privately|TestNothingInsideWritesToTheSnapshot/private|TestRemovingUnmounts|" +
	"TestGitReadsNoFile|TestAnOverlayComesBack|TestASecondSignalbox|TestADeletedMountPoint|TestANoteOutside|TestAutoCopies|TestNetworkConformance/lent"

// somebody is a user id that no user has.
const somebody = 64_999

func TestAsAUserWhoIsNotRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("the whole of this run is by a user who is not root")
		return
	}
	dir := t.TempDir()
	for _, above := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(above, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, temporary := filepath.Join(dir, "program"), filepath.Join(dir, "tmp")
	data, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, processtest.WriteProgram(program, data, 0o755), os.Mkdir(temporary, 0o755), os.Chown(temporary, somebody, somebody)); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", unprivileged)
	c.Dir, c.Env = temporary, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temporary, "TMPDIR=" + temporary, "CI=" + os.Getenv("CI")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is tied to the thread that starts it
	said, err := c.CombinedOutput()
	runtime.UnlockOSThread()
	for _, test := range strings.Split(unprivileged, "|") {
		name, _, _ := strings.Cut(test, "/")
		if !strings.Contains(string(said), "--- PASS: "+name) {
			t.Errorf("%s did not pass", test)
		}
	}
	if err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// secondly runs an operation as a second Signalbox, in a process of its own, and returns its output.
func secondly(t *testing.T, operation string, p *environmenttest.Project) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], operation, "-1", p.Root, p.Commit)
	c.Env = append(os.Environ(), "SIGNALBOX_TEST_CRASH="+string(clone.Private))
	said, err := c.CombinedOutput()
	return string(said), err
}

// Two overlays on the same layers would not see each other's files.
func TestASecondSignalboxSeesTheFirstOnesMounts(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Private)
	e, _ := kept(t, d, p)
	expect(t, e, "ls; echo theirs >theirs", "README.md\nlocal\nnode_modules\nrun.sh\nsrc\n") // a folder that was read is remembered
	first := found(t, e)
	if said, err := secondly(t, "attach", p); err != nil || said != "theirs\n" {
		t.Fatalf("%v: %s", err, said)
	}
	if now := found(t, e); now != first {
		t.Errorf("the second one mounted them again: %s became %s", first, now)
	}
	expect(t, e, "cat mine; ls", "mine\nREADME.md\nlocal\nmine\nnode_modules\nrun.sh\nsrc\ntheirs\n")
	d.Die()
	if said, err := secondly(t, "attach", p); err != nil || said != "theirs\n" {
		t.Fatalf("after the first one died: %v: %s", err, said)
	}
	before := found(t, e)
	if said, err := secondly(t, "restore", p); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	expect(t, e, verify+"; ls", verified+"README.md\nlocal\nnode_modules\nrun.sh\nsrc\n")
	if after := found(t, e); after == before {
		t.Errorf("the deleted environment is still held at %s", after)
	}
	if said, err := secondly(t, "remove", p); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if _, err := e.Exec(t.Context(), process.Command{Args: []string{"true"}}); err == nil {
		t.Error("a command ran in an environment that was removed")
	}
}

// Recording an empty mount point would delete every file of the project.
func TestADeletedMountPointIsNoDeletedWork(t *testing.T) {
	t.Parallel()
	for name, dead := range map[string]bool{"while it is held": false, "after its holder died": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, d := keeping(t, clone.Private)
			e, _ := kept(t, d, p)
			if dead {
				d.Die()
			}
			for _, again := range []bool{false, true} {
				if err := os.RemoveAll(folder(p)); err != nil {
					t.Fatal(err)
				}
				if again {
					if err := os.Mkdir(folder(p), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if change, err := e.Record(t.Context(), p.Commit, "work\n"); err == nil && change.Changed {
					t.Errorf("recorded %+v", change)
				}
				if _, err := e.Read(t.Context(), "README.md", 100); err == nil && !dead {
					t.Error("read a missing file")
				}
				e = made(t, d, p)
				expect(t, e, verify+"; git status --porcelain", verified)
			}
		})
	}
}

func TestANoteOutsideSaysWhereThePrivateFilesAre(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Private)
	e, _ := kept(t, d, p)
	held, err := os.ReadDir(folder(p))
	if err != nil || len(held) != 1 {
		t.Fatal(held, err)
	}
	if said, err := os.ReadFile(filepath.Join(folder(p), held[0].Name())); err != nil || !strings.Contains(string(said), "signalbox env shell") {
		t.Errorf("%v: %s", err, said)
	}
	expect(t, e, "test -e README.md && test ! -e "+held[0].Name()+" && git status --porcelain", "")
	if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(folder(p)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left is %v", err)
	}
}

// A driver that needs the folders on this machine must refuse such an environment.
func TestPrivateMountsNeedExec(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Private)
	kept(t, d, p)
	for name, change := range map[string]func(*clone.Config){
		"who runs commands by other means": func(c *clone.Config) { c.OnHost = true },
		"who runs them without a sandbox":  func(c *clone.Config) { c.Unsandboxed = true },
	} {
		c := keepingConfig(t, p, clone.Auto)
		change(&c)
		if _, err := clone.New(c).Make(t.Context(), p.Spec("site")); !errors.Is(err, environment.ErrOtherSpec) {
			t.Errorf("%s got %v", name, err)
		}
	}
}

// A plan may choose another environment than the one that was made, and a clone has no image.
func TestAnotherImageKeepsTheClone(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Auto)
	spec := p.Spec("site")
	for _, image := range []string{"python:3.11", "node:22", ""} {
		spec.Image = image
		if _, err := d.Make(t.Context(), spec); err != nil {
			t.Errorf("with the image %q: %v", image, err)
		}
	}
}

func TestAutoCopiesASmallSnapshot(t *testing.T) {
	t.Parallel()
	for files, hidden := range map[string]bool{"10": false, "10001": os.Geteuid() != 0} {
		t.Run(files, func(t *testing.T) {
			t.Parallel()
			p, d := keeping(t, clone.Auto)
			e := restored(t, d, p.Spec("site"), false)
			expect(t, e, `mkdir -p "$HOME/.cache" && touch "$HOME/.cache/file" && mkdir node_modules && cd node_modules && seq `+files+" | xargs touch", "")
			if err := e.Snapshot(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(folder(p), "README.md")); (err != nil) != hidden {
				t.Errorf("every process of this machine finds README.md: %v", err)
			}
			expect(t, e, `mkdir -p "$HOME/.cache" && touch "$HOME/.cache/ours" && ls "$HOME/.cache"`, "file\nours\n")
			expect(t, restored(t, d, p.Spec("other"), true), `ls node_modules | wc -l; ls "$HOME/.cache"`, files+"\nfile\n")
		})
	}
}
