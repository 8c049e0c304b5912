package environmenttest

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/process"
)

// hiddenTests and isolationTests are for drivers that isolate: the former are about files.
var hiddenTests = []conformance{
	{"a command writes nowhere outside", testWritesOutside},
	{"a command sees nothing of this machine's files", testReadsOutside},
	{"a file that cannot be read is an error that names it", testUnreadable},
}

var isolationTests = []conformance{
	{"a command sees no processes but its own, has no capabilities and gains none", testProcesses},
	{"a link left in the temporary folder leads the next sandbox nowhere", testPreparedLink},
	{"a command reaches nothing of this machine, of the project or of other environments", testOutOfReach},
	{"a command gets no variable of this machine", testNoForeignVariables},
}

func testWritesOutside(t *testing.T, s *site) {
	other := s.another(t, "other")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	name, paths := "signalbox-test-"+rand.Text(), []string{}
	for _, dir := range []string{
		s.Project.Root, s.Project.Root + "/.git", s.Project.Root + "/.git/objects", s.Project.Root + "/.worktrees",
		other.folder(), home, "/etc", "/usr", "/opt", "/run", "/var", "/var/tmp", "/tmp", "/dev/shm", "/",
	} {
		paths = append(paths, filepath.Join(dir, name))
	}
	written := s.must(t, `for path; do (echo x >"$path") 2>/dev/null && echo "$path"; done; true`, paths...)
	for _, path := range paths {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("written to %s (%v)", path, err)
		}
	}
	if strings.Contains(written, s.Project.Root) || !strings.Contains(written, "/tmp/"+name) {
		t.Errorf("inside, writing was not refused to:\n%s", written)
	}
}

func testReadsOutside(t *testing.T, s *site) {
	other := s.another(t, "other")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := []string{secret, s.Project.Root + "/README.md", s.Project.Root + "/.git", s.Project.Root + "/.env", other.folder(), s.folder(),
		hostHome(t, s), "/run/docker.sock", "/var/run/docker.sock"}
	if !s.OwnSystem {
		paths = append(paths, "/var/run", "/var/lib", "/sys", "/boot")
	}
	equal(t, "visible", s.must(t, `for path; do test -e "$path" && echo "$path"; done; true`, append(paths, "/tmp")...), "/tmp\n")
	equal(t, "beside HOME", s.must(t, `ls -A "$(dirname "$HOME")" | grep -vx "$(basename "$HOME")"; true`), "")
}

// hostHome returns a path of this machine's home folder that commands must not see: the folder, or a new file in it if the image
// may have that folder, or a name beside the project if the project is in it.
func hostHome(t *testing.T, s *site) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if s.OwnSystem {
		canary := filepath.Join(home, ".signalbox-test-"+rand.Text())
		if err := os.WriteFile(canary, []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(canary) })
		return canary
	}
	if relative, err := filepath.Rel(home, s.Project.Root); err != nil || !filepath.IsLocal(relative) {
		return home
	}
	return filepath.Join(filepath.Dir(s.Project.Root), "secret")
}

func testProcesses(t *testing.T, s *site) {
	ours, err := os.Readlink("/proc/self/ns/pid")
	if inside := strings.TrimSpace(s.must(t, "readlink /proc/self/ns/pid")); err != nil || inside == "" || inside == ours {
		t.Errorf("process ids are those of %q here and of %q inside (%v)", ours, inside, err)
	}
	if seen := strings.Fields(s.must(t, "ls -d /proc/[0-9]*")); len(seen) > 4 {
		t.Errorf("processes %v are visible", seen)
	}
	status := s.must(t, "cat /proc/self/status")
	for _, line := range []string{"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(status, line+"\n") {
			t.Errorf("want %q in %s", line, status)
		}
	}
}

// The sandbox makes mount points in the temporary folder. It must never be one that a command wrote: through a link, they would
// appear on this machine.
func testPreparedLink(t *testing.T, s *site) {
	top := filepath.Join("/tmp", "signalbox-test-"+rand.Text())
	if err := os.MkdirAll(filepath.Join(top, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join("/tmp", "signalbox-test-"+rand.Text())
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(os.RemoveAll(top), os.RemoveAll(target)) })
	if err := os.WriteFile(filepath.Join(top, "deep", "read"), []byte("shown"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must(t, `rm -rf "$1" && ln -s "/oldroot$2" "$1"`, top, target)
	c := process.Command{Args: []string{"cat", top + "/deep/read"}, Reads: []string{top + "/deep/read"}}
	if r, err := s.Exec(t.Context(), c); err != nil || !r.OK() {
		t.Errorf("got %v, %v", r, err)
	}
	if left, err := os.ReadDir(target); err != nil || len(left) != 0 {
		t.Errorf("made on this machine: %v, %v", left, err)
	}
}

func testUnreadable(t *testing.T, s *site) {
	for name, script := range map[string]string{
		"hidden.txt": "echo x >hidden.txt && chmod 000 hidden.txt", // git would only warn about a folder and leave it out
		"hidden":     "mkdir hidden && echo x >hidden/file && chmod 000 hidden",
	} {
		s.must(t, script)
		_, err := s.Record(t.Context(), s.spec.Commit, "work\n")
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), filepath.Join(s.spec.Dir, name)) {
			t.Errorf("got error %v", err)
		}
		s.must(t, `chmod -R u+rwX "$1" && rm -r "$1"`, name)
	}
}
