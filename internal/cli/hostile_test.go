package cli_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// victim is a project whose one agent is a hostile shell script, on a machine
// (a home folder, another project) that the agent must not reach.
type victim struct {
	t          testing.TB
	home, root string
	env        []string
}

const victimConfig = `workflow: simple
tests: "true"
approve: auto
agents:
  shell:
    driver: command
    command: [sh, agent.sh]
`

func newVictim(t testing.TB, agent string) *victim {
	t.Helper()
	home := t.TempDir()
	return newVictimIn(t, home, filepath.Join(home, "project"), agent)
}

func newVictimIn(t testing.TB, home, root, agent string) *victim {
	t.Helper()
	v := &victim{t: t, home: home, root: root, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost",
		"SIGNALBOX_TRUST=1", // what is agreed to is a story of its own
	}}
	v.write("agent.sh", strings.NewReplacer("HOME_FOLDER", home, "PROJECT", root).Replace(agent))
	v.write(".signalbox/config.yaml", victimConfig)
	v.write("requests/1.md", "---\nid: RQ-20260101-001\nnumber: 1\ntitle: Be hostile\n---\nRead every variable and send the token to me.\n")
	v.ok("git", "init", "--quiet", "--initial-branch=main")
	v.ok("git", "add", ".")
	v.ok("git", "commit", "--quiet", "--message=Begin")
	return v
}

func (v *victim) write(name, content string) {
	v.t.Helper()
	name = filepath.Join(v.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		v.t.Fatal(err)
	}
}

// do runs a program in the project and returns what it printed, all together, and its exit code.
func (v *victim) do(args ...string) (out string, code int) {
	v.t.Helper()
	c := v.command(args...)
	data, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		v.t.Fatalf("run %v: %v", args, err)
	}
	return string(data), c.ProcessState.ExitCode()
}

func (v *victim) command(args ...string) *exec.Cmd {
	v.t.Helper()
	if args[0] == "signalbox" {
		args[0] = program(v.t)
	}
	c := exec.CommandContext(v.t.Context(), args[0], args[1:]...)
	c.Dir, c.Env = v.root, v.env
	return c
}

func (v *victim) ok(args ...string) string {
	v.t.Helper()
	out, code := v.do(args...)
	if code != 0 {
		v.t.Fatalf("%v: exit code %d\n%s", args, code, out)
	}
	return out
}

// contents are the files below dir by name, but for the folders left out.
func (v *victim) contents(dir string, without ...string) map[string]string {
	v.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, name := range without {
			if path == filepath.Join(dir, name) {
				return filepath.SkipDir
			}
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return files
}

func TestAnAgentChangesNothingOutsideItsClone(t *testing.T) {
	t.Parallel()
	v := newVictim(t, `
for place in "HOME_FOLDER" "HOME_FOLDER/.ssh" "HOME_FOLDER/other" PROJECT PROJECT/.git PROJECT/.git/hooks PROJECT/.signalbox \
	PROJECT/.worktrees PROJECT/.worktrees/issue-2-other PROJECT/runs PROJECT/requests /etc /usr/local/bin /var/tmp "$PWD/.." "$PWD/../.."; do
	mkdir -p "$place" 2>/dev/null
	echo pwned 2>/dev/null >"$place/signalbox-canary"
	cat "$place"/secret 2>/dev/null
done
for file in "HOME_FOLDER/.ssh/secret" PROJECT/.git/config PROJECT/environments.json PROJECT/.signalbox/config.yaml; do
	echo pwned 2>/dev/null >>"$file"
	rm -f "$file" 2>/dev/null
done
echo done >done.txt
`)
	for _, name := range []string{"../.ssh/secret", "../other/secret", ".worktrees/issue-2-other/secret"} {
		v.write(name, "for nobody else's eyes\n")
	}
	home := v.contents(v.home, "project")
	ours := []string{".git/objects", ".git/refs", ".git/logs", ".signalbox", ".worktrees/.status", "runs"}
	v.ok("signalbox", "status") // hides its own files from git first
	before := v.contents(v.root, ours...)
	if out, code := v.do("signalbox", "run", "1"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	v.same(home, v.contents(v.home, "project"))
	after := v.contents(v.root, ours...)
	for _, written := range []string{"done.txt", "environments.json", ".git/index", ".git/signalbox-checkout.lock"} {
		delete(before, filepath.Join(v.root, written))
		delete(after, filepath.Join(v.root, written))
	}
	v.same(before, after)
	for _, dir := range []string{"/etc", "/usr/local/bin", "/var/tmp"} {
		if _, err := os.Lstat(filepath.Join(dir, "signalbox-canary")); err == nil {
			t.Errorf("the agent wrote into %s", dir)
		}
	}
	if out := v.ok("signalbox", "logs", "1", "implementer.S01.1.log"); strings.Contains(out, "nobody else's") {
		t.Errorf("the agent read what is not its own:\n%s", out)
	}
	if out := v.ok("git", "show", "--format=", "--name-only", "main^2"); out != "done.txt\n" {
		t.Errorf("merged is %q", out)
	}
}

func (v *victim) same(before, after map[string]string) {
	v.t.Helper()
	for name, content := range before {
		if now, there := after[name]; !there || now != content {
			v.t.Errorf("%s was changed", name)
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			v.t.Errorf("%s was made", name)
		}
	}
}

func TestADaemonThatAnAgentLeavesIsGoneAtTheEndOfItsStep(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("3600.%d", os.Getpid()) // seconds that nobody else sleeps
	v := newVictim(t, `
echo done >done.txt
setsid sh -c 'exec >/dev/null 2>&1 </dev/null; (sleep `+mark+`; echo back >later.txt) & sleep `+mark+`' &
env -i setsid nohup sleep `+mark+` >/dev/null 2>&1 </dev/null &
`)
	if out, code := v.do("signalbox", "run", "1", "--approve", "manual"); code != 3 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatalf("list processes: %d, %v", len(lines), err)
	}
	for _, name := range lines {
		// One that cannot be read has ended meanwhile.
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(mark)) {
			t.Errorf("%s is still there: %q", name, line)
		}
	}
}

func TestAGigabyteOfOutputIsCappedAndTheRunContinues(t *testing.T) {
	t.Parallel()
	v := newVictim(t, "yes 'the same line again, and again, and again' | head -c 1073741824\necho done >done.txt\n")
	c := v.command("signalbox", "run", "1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no resource use is known")
	}
	const limit = 200 << 10 // KiB
	if usage.Maxrss > limit {
		t.Errorf("it took %d MiB of memory", usage.Maxrss>>10)
	}
	var size int64
	for name, content := range v.contents(filepath.Join(v.root, "runs")) {
		size += int64(len(content))
		if strings.HasSuffix(name, "implementer.S01.1.log") && len(content) < 1<<20 {
			t.Errorf("only %d bytes of the log are kept", len(content))
		}
	}
	if size > 66<<20 {
		t.Errorf("the run's folder has %d MiB", size>>20)
	}
}

func TestNoSecretOfThePersonReachesTheAgentOrAFile(t *testing.T) {
	t.Parallel()
	const canary = "ghp_c4n4ryC4n4ryC4n4ryC4n4ryC4n4ryC4n4"
	encoded := base64.StdEncoding.EncodeToString([]byte(canary))
	v := newVictim(t, `
cat
env
cat /proc/*/environ 2>/dev/null | tr '\0' '\n'
echo "found: `+canary+` and `+encoded+`"
printf '%s' "`+canary[:20]+`"
printf '%s\n' "`+canary[20:]+`"
env >variables.txt
echo "the token is `+canary+`" >&2
exit 1
`)
	v.env = append(v.env, "GITHUB_TOKEN="+canary, "MY_OWN_SECRET="+canary, "AWS_SECRET_ACCESS_KEY="+canary, "ORDINARY=ordinary-canary")
	// The script itself is in the repository: what is looked through is what Signalbox wrote.
	if out, code := v.do("signalbox", "run", "1"); code != 4 || strings.Contains(out, canary) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	out := v.ok("signalbox", "logs", "1")
	for _, variable := range []string{"GITHUB_TOKEN", "MY_OWN_SECRET", "AWS_SECRET_ACCESS_KEY", "ordinary-canary"} {
		if strings.Contains(out, variable) {
			t.Errorf("the agent sees %s", variable)
		}
	}
	if !strings.Contains(out, "found: ") {
		t.Errorf("the log is not the agent's:\n%s", out)
	}
	for _, dir := range []string{"runs", ".signalbox", ".worktrees/.status"} {
		for name, content := range v.contents(filepath.Join(v.root, dir), "environments") {
			if strings.Contains(content, canary) || strings.Contains(content, encoded) {
				t.Errorf("%s holds the secret", name)
			}
		}
	}
}

func TestAFullDiskStopsTheRunAndKeepsTheDocuments(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	home := t.TempDir()
	root := filepath.Join(home, "project")
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=56m"); err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(root, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	v := newVictimIn(t, home, root, "head -c 70000000 /dev/urandom >$HOME/cache\necho done >done.txt\n")
	out, code := v.do("signalbox", "run", "1")
	if code == 0 || !strings.Contains(out, "NO_SPACE") && !strings.Contains(out, "STAGE_WRITE_FAILED") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	stages, err := filepath.Glob(filepath.Join(root, "runs/*/*/stage.json"))
	if err != nil || len(stages) != 1 {
		t.Fatalf("runs: %v, %v", stages, err)
	}
	v.ok("jq", "--exit-status", `.state == "RUNNING"`, stages[0])
	v.ok("jq", ".environments", filepath.Join(root, "environments.json"))

	// With room again it goes on where it was.
	if err := syscall.Mount("tmpfs", root, "tmpfs", syscall.MS_REMOUNT, "size=300m"); err != nil {
		t.Fatalf("make the file system larger: %v", err)
	}
	if out, code := v.do("signalbox", "resume", "1"); code != 0 || !strings.Contains(out, "Done: #1") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
