package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newCounted makes a project without isolation whose agent leaves a line in .git/calls each time that it is called, and then does what
// the script says.
func newCounted(t *testing.T, script, config string) *project {
	t.Helper()
	p := newProject(t, 1)
	p.write("agent.sh", "cat >"+p.dir+"/.git/prompt\necho \"$SIGNALBOX_ROLE\" >>"+p.dir+"/.git/calls\n"+script)
	p.write(".signalbox/config.yaml", "approve: auto\nenvironment: {sandbox: none}\n"+config+
		"agents:\n  shell: {driver: command, command: [sh, ./agent.sh]}\n  other: {driver: command, command: [no-such-reviewer]}\n")
	return p
}

const onlyShell = "workflow: simple\nroles: {implementer: shell, planner: none, reviewer: none, repairer: none}\n"

// commit commits all of the project's files.
func (p *project) commit() {
	p.Helper()
	p.git("add", "--all")
	p.git("commit", "--quiet", "-m", "Set up")
}

// calls is how many times an agent was called.
func (p *project) calls() int {
	p.Helper()
	said, err := os.ReadFile(filepath.Join(p.dir, ".git", "calls"))
	if err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	return strings.Count(string(said), "\n")
}

// What can be seen for free stops a run before anything is paid for, and doctor says it, too, where it can be seen without a run.
func TestARunStopsBeforeItsFirstPaidCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		damage func(*project)
		// reason is the run's, says what both name; doctor sees nothing where silent is set.
		reason, says, next string
		silent             bool
	}{
		"the reviewer's program is not there": {
			config: "workflow: [review-request]\nroles: {implementer: shell, planner: none, reviewer: other, repairer: none}\ntests: \"true\"\n",
			reason: "AGENT_UNAVAILABLE", says: "no-such-reviewer", next: "signalbox resume 1"},
		"the remote is gone": {config: onlyShell + "tests: \"true\"\n",
			damage: func(p *project) { p.git("remote", "add", "origin", filepath.Join(p.dir, "gone.git")) },
			reason: "REMOTE_REFUSES", says: "gone.git", next: "git push --dry-run origin main"},
		"a merge of the user's is half done": {config: onlyShell + "tests: \"true\"\n",
			damage: func(p *project) {
				p.git("checkout", "--quiet", "-b", "theirs")
				p.git("commit", "--quiet", "--allow-empty", "-m", "Theirs")
				p.git("checkout", "--quiet", "main")
				p.git("merge", "--quiet", "--no-ff", "--no-commit", "theirs")
			},
			reason: "CHECKOUT_IN_THE_WAY", says: "a git merge of yours is half done where main is checked out", next: "git merge --abort"},
		"the remote has other commits": {config: onlyShell + "tests: \"true\"\n",
			damage: func(p *project) {
				p.git("branch", "theirs")
				p.git("init", "--quiet", "--bare", ".git/remote.git")
				p.git("remote", "add", "origin", filepath.Join(p.dir, ".git", "remote.git"))
				p.git("commit", "--quiet", "--allow-empty", "-m", "Theirs")
				p.git("push", "--quiet", "origin", "main")
				p.git("reset", "--quiet", "--hard", "theirs")
			}, reason: "REMOTE_MOVED", says: "commits that are missing here", next: "git pull"},
		"a test program is not there": {config: onlyShell + "tests: no-such-tests --all\n",
			reason: "TESTS_CANNOT_RUN", says: "no-such-tests", next: "signalbox resume --unsandboxed 1"},
		"a test may not be executed": {config: onlyShell + "tests: ./check\n",
			damage: func(p *project) { p.write("check", "#!/bin/sh\n"); p.commit() },
			reason: "TESTS_CANNOT_RUN", says: "check", next: "signalbox resume --unsandboxed 1", silent: true},
		"no test runs": {config: onlyShell + "tests: \"echo 'Ran 0 tests in 0.000s'\"\n",
			reason: "TESTS_CANNOT_RUN", says: "no test ran", next: "signalbox resume --force --unsandboxed 1", silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newCounted(t, "echo x >x\n", c.config)
			p.commit()
			if c.damage != nil {
				c.damage(p)
			}
			out := p.run(3, "run", "1")
			if !strings.Contains(out, c.reason) || !strings.Contains(out, c.says) || !strings.Contains(out, c.next) || p.calls() != 0 {
				t.Errorf("%d calls; want none, %s, %q and %q in\n%s", p.calls(), c.reason, c.says, c.next, out)
			}
			if c.silent {
				return
			}
			if doctor := p.run(1, "doctor"); !strings.Contains(doctor, c.says) {
				t.Errorf("want %q in\n%s", c.says, doctor)
			}
		})
	}
}

// The remote is a folder that is not there: any question to it would be an error.
func TestARunNeedsNoRemoteWhereNothingIsPushed(t *testing.T) {
	t.Parallel()
	p := newCounted(t, "echo x >x\n", onlyShell+"tests: \"true\"\npush: never\n")
	p.commit()
	p.git("remote", "add", "origin", filepath.Join(p.dir, "gone.git"))
	if doctor := p.run(0, "doctor"); strings.Contains(doctor, "pushed to origin") {
		t.Errorf("it says that merges are pushed\n%s", doctor)
	}
	if out := p.run(0, "run", "1"); !strings.Contains(out, "Done: #1") || p.calls() != 1 {
		t.Errorf("%d calls\n%s", p.calls(), out)
	}
	if names := p.git("ls-tree", "--name-only", "main"); !strings.Contains(names, "\nx") {
		t.Errorf("main has %s", names)
	}
}

// Each of these cost four calls, without a word of the cause. More calls than these cannot help.
func TestNoMoreIsPaidThanCanHelp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tests, agent string
		exit, calls  int
		says         []string
	}{
		"a test that fails before the change": {
			"\"echo 'not ok 1 - TestOld'; exit 1\"", "echo x >x\n", 3, 1, []string{"APPROVAL_REQUIRED", "TestOld"}},
		"one whose output names no test": {
			"echo wrong; exit 1", "echo x >x\n", 4, 2, []string{"TESTS_FAILED", "as they did before anything was changed"}},
		"a file over the limit":        {"\"true\"", "truncate -s 60M big.bin\n", 4, 2, []string{"CHANGE_REFUSED", "60 MiB", ".gitignore"}},
		"work that cannot be recorded": {"\"true\"", "truncate -s 200M big.bin\n", 4, 2, []string{"CHANGE_REFUSED", "big.bin", ".gitignore"}},
		"tests that are killed after the change": {
			"test ! -e x || kill -9 $$", "echo x >x\n", 3, 1, []string{"TESTS_NOT_SETTLED", "signalbox resume --unsandboxed 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newCounted(t, c.agent, onlyShell+"tests: "+c.tests+"\n")
			p.commit()
			out := p.run(c.exit, "run", "1")
			for _, says := range c.says {
				if !strings.Contains(out, says) {
					t.Errorf("want %q in\n%s", says, out)
				}
			}
			if p.calls() != c.calls {
				t.Errorf("%d calls, want %d\n%s", p.calls(), c.calls, out)
			}
		})
	}
}

func TestARetryOnAFixedBasePaysForNothing(t *testing.T) {
	t.Parallel()
	p := newCounted(t, "echo x >x\n", onlyShell+"tests: test -e mended\n")
	p.commit()
	p.run(4, "run", "1")
	paid := p.calls()
	p.write("mended", "")
	p.commit()
	if out := p.run(0, "retry", "1"); !strings.Contains(out, "Done: #1") || paid != 2 || p.calls() != paid {
		t.Errorf("%d calls, and then %d\n%s", paid, p.calls()-paid, out)
	}
	if names := p.git("ls-tree", "--name-only", "main"); !strings.Contains(names, "mended") || !strings.HasSuffix(names, "\nx") {
		t.Errorf("main has %s", names)
	}
}
