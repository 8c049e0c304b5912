package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/app/ci"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// stateKey seals the states of these tests.
var stateKey = []string{ci.KeyVariable + "=0123456789abcdef0123456789abcdef"}

// checkout is a project in which a person must approve, whose agent is called once, with a remote.
func checkout(t *testing.T) *project {
	t.Helper()
	p := &project{t, projectDir(t)}
	p.write(".signalbox/config.yaml", "workflow: simple\napprove: manual\nagents:\n  shell: {driver: command, command: [sh, ./agent.sh]}\n")
	p.write("agent.sh", "cat >/dev/null\necho hello world >greeting.txt\necho greeted\n")
	p.write("greeting.txt", "hello\n")
	p.write("requests/greet.md", "---\nid: RQ-20260101-001\nnumber: 1\ntitle: Greet the world\ntests: grep -q world greeting.txt\n---\n\nSay hello to the world.\n")
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", "requests", "agent.sh", "greeting.txt", ".signalbox/config.yaml")
	p.git("commit", "--quiet", "-m", "Begin")
	return p.withRemote()
}

// another is another clone of the same remote.
func (p *project) another() *project {
	p.Helper()
	q := &project{p.TB, projectDir(p.TB)}
	q.git("clone", "--quiet", "file://"+p.git("remote", "get-url", "origin"), ".") // a path would bring objects that nothing names
	return q
}

// sealed runs signalbox with the key, and wants its exit code.
func (p *project) sealed(want int, args ...string) string {
	p.Helper()
	c := p.startWith(stateKey, args...)
	if got := c.wait(); got != want {
		p.Fatalf("signalbox %v: exit code %d, want %d\n%s", args, got, want, c.out)
	}
	return c.out.String()
}

// A run that stops for an approval in one checkout is approved and merged in another, and goes back.
func TestARunGoesFromOneCheckoutToAnother(t *testing.T) {
	t.Parallel()
	a := checkout(t)
	a.run(3, "run", "1")
	a.sealed(0, "ci", "save", "1")
	a.sealed(0, "ci", "save", "1") // says the same

	b := a.another()
	if out := b.run(10, "ci", "restore", "1"); !strings.Contains(out, ci.KeyVariable+" is not set") {
		t.Errorf("without a key it says:\n%s", out)
	}
	if c := b.startWith([]string{ci.KeyVariable + "=" + strings.Repeat("x", 32)}, "ci", "restore", "1"); c.wait() != 10 || !strings.Contains(c.out.String(), "not sealed with this key") {
		t.Errorf("with another key it says:\n%s", c.out)
	}
	if out := b.sealed(0, "ci", "restore", "2"); !strings.Contains(out, "a run begins anew") {
		t.Errorf("of another request it says:\n%s", out)
	}
	b.sealed(2, "ci", "restore", "1;id")
	lock, err := b.documents().LockRequest(t.Context(), "RQ-20260101-001", engine.Owner{Name: "run 1"})
	if err != nil {
		t.Fatal(err)
	}
	if out := b.sealed(5, "ci", "restore", "1"); !strings.Contains(out, "another process works on request 1") {
		t.Errorf("beside a process it says:\n%s", out)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if out := b.sealed(0, "ci", "restore", "1"); !strings.Contains(out, "restored run "+a.stage(1).RunID) {
		t.Errorf("it says:\n%s", out)
	}
	if out := b.run(0, "status", "1"); !strings.Contains(out, "signalbox approve 1") {
		t.Errorf("status says:\n%s", out)
	}
	if out := b.run(0, "diff", "1"); !strings.Contains(out, "+hello world") {
		t.Errorf("diff says:\n%s", out)
	}
	b.run(0, "approve", "1")
	run := b.stage(1)
	if run.State != workflow.Done || run.Counters.ImplementerCalls != 1 {
		t.Errorf("it is %s after %d calls", run.State, run.Counters.ImplementerCalls)
	}
	if merges := b.git("rev-list", "--merges", "--count", "origin/main"); merges != "1" {
		t.Errorf("%s merges", merges)
	}

	// Its first checkout knows nothing of that yet, and may not overwrite it.
	b.sealed(0, "ci", "save", "1")
	if out := a.sealed(1, "ci", "save", "1"); !strings.Contains(out, "signalbox ci restore 1") {
		t.Errorf("it says:\n%s", out)
	}
	a.sealed(0, "ci", "restore", "1")
	if run := a.stage(1); run.State != workflow.Done {
		t.Errorf("it is %s in the first checkout", run.State)
	}
	if logs, _ := filepath.Glob(filepath.Join(a.dir, "runs/*/*/logs/implementer.*.log")); len(logs) == 0 {
		t.Error("the log is gone from the checkout that wrote it")
	}
	a.sealed(0, "ci", "save", "1")
	if out := a.run(0, "run", "1"); !strings.Contains(out, "Done: #1") {
		t.Errorf("it says:\n%s", out)
	}
}

// A job that was killed while its agent worked is saved all the same, with what the agent left, and another checkout goes on.
func TestARunThatWasCutOffGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	a := checkout(t)
	configured := a.read(".signalbox/config.yaml")
	a.write(".signalbox/config.yaml", strings.Replace(configured, "[sh, ./agent.sh]", "[sh, -c, 'echo half >greeting.txt && echo begun && sleep 600']", 1))
	c := a.start("run", "1")
	if !c.until(func() bool { return strings.Contains(a.read("runs/*/*/logs/implementer.*.log"), "begun") }) {
		t.Fatal("the agent did not begin")
	}
	a.sealed(5, "ci", "save", "1")
	c.signal(syscall.SIGKILL)
	c.wait()
	a.sealed(0, "ci", "save", "1")

	b := a.another()
	b.sealed(0, "ci", "restore", "1")
	if kept := b.git("for-each-ref", "--format=%(refname)", "refs/signalbox/kept/1"); b.git("show", kept+":greeting.txt") != "half" {
		t.Errorf("what the agent left is on %q", kept)
	}
	b.run(3, "resume", "1")
	b.run(0, "approve", "1")
	if text := b.git("show", "origin/main:greeting.txt"); text != "hello world" {
		t.Errorf("main has %q", text)
	}
}

// read returns the content of the files of a pattern.
func (p *project) read(pattern string) (all string) {
	p.Helper()
	paths, err := filepath.Glob(filepath.Join(p.dir, pattern))
	if err != nil {
		p.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			p.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// Killed right after any of its effects, a save or a restore is simply repeated.
func TestASaveOrRestoreThatWasKilledIsRepeated(t *testing.T) {
	t.Parallel()
	a := checkout(t)
	a.run(3, "run", "1")
	ref := ci.Ref(1)
	for _, effect := range []string{"fast-import", "push"} {
		a.dies(effect, "ci", "save", "1")
		a.sealed(0, "ci", "save", "1")
		if refs := a.git("ls-remote", "origin", "refs/signalbox/*", "refs/heads/*"); strings.Count(refs, "\n") != 1 || !strings.Contains(refs, ref) {
			t.Fatalf("killed after %s, the remote has\n%s", effect, refs)
		}
		if effect != "push" {
			a.git("push", "--quiet", "origin", ":"+ref)
		}
	}
	for _, effect := range []string{"fetch", "update-ref"} {
		b := a.another()
		b.dies(effect, "ci", "restore", "1")
		if runs := b.stages(); len(runs) != 0 {
			t.Errorf("killed after %s, a run is there already", effect)
		}
		b.sealed(0, "ci", "restore", "1")
		if got, want := b.stage(1), a.stage(1); got.RunID != want.RunID || got.State != want.State {
			t.Errorf("killed after %s, it ends with run %s in %s", effect, got.RunID, got.State)
		}
	}
	b := a.another()
	for _, effect := range []string{".signalbox/requests/1.json", "runs/*/.tmp-*", "runs/*/2*"} { // or a moment later
		c := b.startWith(stateKey, "ci", "restore", "1")
		c.until(func() bool {
			found, _ := filepath.Glob(filepath.Join(b.dir, effect))
			return len(found) > 0
		})
		c.signal(syscall.SIGKILL)
		c.wait()
	}
	b.sealed(0, "ci", "restore", "1")
	if left, _ := filepath.Glob(filepath.Join(b.dir, "runs/*/.tmp-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	// Two people decide, each in their checkout. Neither overwrites the other.
	b.run(0, "stop", "--cancel", "1")
	b.sealed(0, "ci", "save", "1")
	a.run(0, "approve", "1")
	for _, verb := range []string{"save", "restore"} {
		if out := a.sealed(1, "ci", verb, "1"); !strings.Contains(out, "were continued separately") {
			t.Errorf("%s says:\n%s", verb, out)
		}
	}
	if run := a.stage(1); run.State != workflow.Done {
		t.Errorf("it is %s where it was approved", run.State)
	}
}

// dies runs signalbox with a git that kills it once that command has had its effect.
func (p *project) dies(after string, args ...string) {
	p.Helper()
	bin, real := p.TempDir(), p.gitProgram()
	script := "#!/bin/sh\n" + real + " \"$@\"\ncode=$?\nfor word; do [ \"$word\" != " + after + " ] || kill -9 $PPID; done\nexit $code\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		p.Fatal(err)
	}
	c := p.startWith(append([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, stateKey...), args...)
	if code := c.wait(); code != -1 {
		p.Fatalf("signalbox %v wasn't killed: exit code %d\n%s", args, code, c.out)
	}
}

func (p *project) gitProgram() string {
	p.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		p.Fatal(err)
	}
	return path
}
