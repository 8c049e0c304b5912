package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostChildren is how many programs a run may start in which one agent changes one file at once. Each costs some
// milliseconds, and far more on a machine with much to do.
const mostChildren = 60

func TestATinyRunStartsAtMostSixtyPrograms(t *testing.T) {
	t.Parallel()
	needs(t, "strace")
	p := tinyProject(t)
	if started := p.programsOf("run", "1", "--agent", "./agent.sh"); len(started) > mostChildren {
		t.Errorf("%d programs were started, and %d are enough:\n%s", len(started), mostChildren, strings.Join(started, "\n"))
	} else {
		t.Logf("%d programs were started", len(started))
	}
	if merged := p.git("show", "main:README.md"); merged != "A project.\nchanged" {
		t.Errorf("on main README.md is %q", merged)
	}
}

// tinyProject is a new repository with one request, and an agent and tests that start no program.
func tinyProject(t testing.TB) *project {
	t.Helper()
	p := &project{t, projectDir(t)}
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("config", "user.name", "Ada")
	p.git("config", "user.email", "ada@localhost")
	p.write("README.md", "A project.\n")
	p.write("agent.sh", "#!/bin/sh\necho changed >>README.md\n")
	if err := os.Chmod(filepath.Join(p.dir, "agent.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.run(0, "init")
	p.write(".signalbox/config.yaml", "workflow: simple\napprove: auto\ntests: [\"true\"]\n")
	p.write("requests/1.md", "---\nid: RQ-20260101-001\nnumber: 1\ntitle: Change one file\n---\n\nAppend a line.\n")
	p.git("add", "-A")
	p.git("commit", "--quiet", "-m", "Begin")
	return p
}

// programStarted is a program that was started, in strace's words: when, and its arguments.
var programStarted = regexp.MustCompile(`^([0-9.]+) execve(?:at)?\(.*?, \[(.*)\], 0x.* = 0$`)

// programsOf returns the programs that a successful signalbox command starts, with arguments, in order. The git that answers questions
// counts once: it exits when idle, so a slow machine may start it again.
func (p *project) programsOf(args ...string) (programs []string) {
	p.Helper()
	calls := filepath.Join(p.TempDir(), "calls")
	c := p.startUnder([]string{"env", "-u", "GIT_AUTHOR_NAME", "-u", "GIT_AUTHOR_EMAIL", "-u", "GIT_COMMITTER_NAME", "-u", "GIT_COMMITTER_EMAIL",
		"SIGNALBOX_TRUST=1", "strace", "-ff", "-qq", "-ttt", "-s", "200", "-e", "trace=execve,execveat", "-o", calls}, nil, args...)
	if code := c.wait(); code != 0 {
		p.Fatalf("signalbox %q: exit code %d\n%s", args, code, c.out)
	}
	files, err := filepath.Glob(calls + ".*")
	if err != nil {
		p.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			p.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if found := programStarted.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil {
				programs = append(programs, found[1]+" "+found[2])
			}
		}
	}
	slices.Sort(programs) // by time, which has as many digits everywhere
	if len(programs) < 10 || !strings.Contains(programs[0], strconv.Quote(args[0])) {
		p.Fatalf("strace saw this of signalbox: %q", programs)
	}
	answering := false
	programs = slices.DeleteFunc(programs[1:], func(started string) bool {
		again := answering && strings.Contains(started, "--batch-command")
		answering = answering || strings.Contains(started, "--batch-command")
		return again
	})
	for i := range programs {
		_, programs[i], _ = strings.Cut(programs[i], " ")
		programs[i] = fmt.Sprintf("%3d %s", i+1, withoutSettings.ReplaceAllString(programs[i], ""))
	}
	return programs
}

// withoutSettings takes out what each git is given alike.
var withoutSettings = regexp.MustCompile(`"-c", "(?:core|safe|gc|maintenance|advice)\.[^"]*", |"--literal-pathspecs", `)
