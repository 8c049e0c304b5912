package environment

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/process"
)

// shellSession runs lines as commands of one environment would.
type shellSession struct {
	t    *testing.T
	home string
	path string
	// passed are further variables that Signalbox passes.
	passed []string
	// problems, if not nil, is what the last line printed on standard error.
	problems *string
}

func (s shellSession) run(args []string) (stdout string, err error) {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), args[0], args[1:]...)
	c.Env = []string{"HOME=" + s.home, "PATH=" + s.path, "TMPDIR=/tmp", "SIGNALBOX_RUN_ID=run", "HTTPS_PROXY=of this command"}
	c.Env = append(c.Env, s.passed...)
	c.Dir = s.home
	var out, problems bytes.Buffer
	if s.problems != nil {
		defer func() { *s.problems = problems.String() }()
	}
	c.Stdout, c.Stderr = &out, &problems
	err = c.Run()
	if problems.Len() > 0 {
		s.t.Logf("%q: %s", args[len(args)-1], problems.String())
	}
	return out.String(), err
}

func (s shellSession) line(line string) string {
	s.t.Helper()
	out, err := s.run(SetUpLine(line))
	if err != nil {
		s.t.Errorf("%q: %v", line, err)
	}
	return out
}

// shells returns every shell that may run a setup.
func shells(t *testing.T) map[string]shellSession {
	t.Helper()
	bare := t.TempDir() // a PATH without bash
	for _, name := range []string{"sh", "cat", "env", "sed", "mkdir", "mv", "false", "grep", "tail", "rm"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = exec.CommandContext(t.Context(), "ln", "-s", path, filepath.Join(bare, name)).Run()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]shellSession{"bash": {t: t, home: t.TempDir(), path: "/usr/local/bin:/usr/bin:/bin"}, "sh": {t: t, home: t.TempDir(), path: bare}}
}

func TestASetupsFolderAppliesToItsVerification(t *testing.T) {
	t.Parallel()
	for name, s := range shells(t) {
		s.line("mkdir -p sub && cd sub")
		out, err := s.run(VerifyLine("pwd; cd /; mark=of-the-verification; export mark"))
		if err != nil || strings.TrimSpace(out) != filepath.Join(s.home, "sub") {
			t.Errorf("%s: it runs in %q (%v)", name, out, err)
		}
		if out := s.line(`echo "$PWD $mark"`); out != filepath.Join(s.home, "sub")+" \n" {
			t.Errorf("%s: it leaves %q to later lines", name, out)
		}
	}
}

func TestTheLinesOfASetupShareOneShell(t *testing.T) {
	t.Parallel()
	for name, s := range shells(t) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.line(`export GREETING="two
lines, a 'quote' and a \$dollar"`)
			s.line("mkdir -p sub && cd sub")
			if got := s.line(`printf '%s|%s' "${PWD##*/}" "$GREETING"`); got != "sub|two\nlines, a 'quote' and a $dollar" {
				t.Errorf("the next line found %q", got)
			}
			if _, err := s.run(SetUpLine("export GREETING=lost; cd /; false")); err == nil {
				t.Error("a line that failed passed for one that did not")
			}
			if got := s.line(`printf '%s|%s' "${PWD##*/}" "${GREETING#*, }"`); got != "sub|a 'quote' and a $dollar" {
				t.Errorf("a line that failed left %q", got)
			}
			if got := s.line("GREETING=again; exit 0"); got != "" {
				t.Errorf("printed %q", got)
			}
			if got := s.line(`printf %s "$GREETING"`); got != "again" {
				t.Errorf("a line that ended its shell left %q", got)
			}
		})
	}
}

func TestAnActivatedEnvironmentAppliesToLaterPrograms(t *testing.T) {
	t.Parallel()
	for name, s := range shells(t) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			activated := func(args ...string) string {
				out, err := s.run(Activated(args, s.passed))
				if err != nil {
					t.Errorf("%q: %v", args, err)
				}
				return out
			}
			if got := activated("sh", "-c", `printf %s "${VIRTUAL_ENV-none}"`); got != "none" {
				t.Errorf("before any setup: %q", got)
			}
			s.line("mkdir -p sub; cd sub; export VIRTUAL_ENV=here PATH=/of/the/set-up:$PATH SIGNALBOX_ISSUE=42")
			got := activated("sh", "-c", `printf '%s|%s|%s|%s|%s' "$VIRTUAL_ENV" "${PATH%%:*}" "${PWD##*/}" "${SIGNALBOX_ISSUE-none}" "$1"`, "x", "a  b'c")
			if want := "here|/of/the/set-up|" + filepath.Base(s.home) + "|none|a  b'c"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A variable that the user no longer passes, or whose value has changed, may not come back from an earlier line.
func TestAPassedVariableIsNotKept(t *testing.T) {
	t.Parallel()
	for name, s := range shells(t) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			const show = `printf '%s|%s|%s' "${MY_TOKEN-none}" "${DIALECT-none}" "${NEW-none}"`
			s.passed = []string{"MY_TOKEN=first\nsecret 'value' $x", "DIALECT=old", "9-odd.name=kept"}
			s.line("export MY_TOKEN NEW=made DIALECT=set-by-the-line PATH=/of/the/set-up:$PATH")
			s.line("true")
			kept, err := os.ReadFile(filepath.Join(s.home, ".signalbox-shell", "variables"))
			if err != nil || strings.Contains(string(kept), "secret") || strings.Contains(string(kept), "MY_TOKEN") {
				t.Errorf("%v, kept\n%s", err, kept)
			}
			if got := s.line(show); got != s.passed[0][len("MY_TOKEN="):]+"|set-by-the-line|made" {
				t.Errorf("while it is passed: %q", got)
			}
			s.passed = []string{"MY_TOKEN=second", "NEW=of the program"}
			if got := s.line(show); got != "second|set-by-the-line|made" {
				t.Errorf("with another value: %q", got)
			}
			if got, err := s.run(Activated([]string{"sh", "-c", show + `; printf '|%s' "${PATH%%:*}"`}, append(s.passed, "9-odd.name=x"))); err != nil ||
				got != "second|set-by-the-line|of the program|/of/the/set-up" {
				t.Errorf("in a program with variables of its own: %q, %v", got, err)
			}
			s.passed = nil
			if got := s.line(show); got != "none|set-by-the-line|made" {
				t.Errorf("without it: %q", got)
			}
		})
	}
}

func TestFunctionsOutliveALineWhereTheShellCan(t *testing.T) {
	t.Parallel()
	s := shells(t)["bash"]
	s.line("conda() { export ACTIVE=$1; }")
	s.line("conda base")
	if got := s.line("echo $ACTIVE; type -t conda save || :"); strings.TrimSpace(got) != "base\nfunction\nfunction" {
		t.Errorf("got %q", got)
	}
}

// Lines that pip writes to its log only.
const (
	pipAnswer = "2026-11-21T04:38:48,359 Could not fetch URL http://127.0.0.1/simple/six/: HTTPConnectionPool(host='127.0.0.1', port=80): " +
		"Max retries exceeded with url: /simple/six/ (Caused by ResponseError('too many 503 error responses')) - skipping"
	pipNothing = "2026-11-21T04:38:48,371 ERROR: Could not find a version that satisfies the requirement six (from versions: none)"
)

func TestPipsUnprintedErrorsAreRead(t *testing.T) {
	t.Parallel()
	writes := func(lines ...string) string {
		return "cat >>$PIP_LOG <<'EOF'\n" + strings.Join(lines, "\n") + "\nEOF\n"
	}
	for name, s := range shells(t) {
		t.Run(name, func(t *testing.T) {
			s.t, s.problems = t, new(string)
			for _, c := range []struct {
				name, line string
				heard      bool
			}{
				{"an index that answers with an error", writes(pipAnswer, pipNothing) + "exit 1", true},
				{"an index that answered, before another trouble", writes(pipAnswer) + "exit 1", false},
				{"an index that has trouble when pip asks for a newer pip", writes(pipNothing, pipAnswer) + "exit 1", false},
				{"a line that succeeded", writes(pipAnswer, pipNothing), false},
				{"a log of the person's own", "export PIP_LOG=own.log; " + writes(pipAnswer, pipNothing) + "exit 1", false},
			} {
				_, _ = s.run(SetUpLine(c.line))
				said := strings.Contains(*s.problems, "pip: Could not fetch URL http://127.0.0.1/simple/six/: ")
				if class := Classify(process.Result{ExitCode: 1, Ending: process.Exited}, *s.problems); said != c.heard || (class == Server) != c.heard {
					t.Errorf("%s: %s\n%s", c.name, class, *s.problems)
				}
			}
			if got := s.line(`printf %s "$PIP_RETRIES"; export PIP_RETRIES=7; cat "$PIP_LOG" 2>/dev/null || :`); got != "1" {
				t.Errorf("the next line found %q", got)
			}
			if got := s.line(`printf %s "$PIP_RETRIES"`); got != "7" {
				t.Errorf("a line's own choice became %q", got)
			}
			if got, _ := s.run(Activated([]string{"sh", "-c", `printf %s "${PIP_LOG-none}"`}, nil)); got != "none" {
				t.Errorf("other programs of the environment are given %q", got)
			}
		})
	}
}
