package session

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
)

func TestAgentsMarkerIsTheOutcomeWhileItStillRuns(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, shell(42, Terminal, "echo working; echo '"+done+"'; read line"))
	info := waited(t, x)
	if info.Outcome.Kind != terminal.Complete || info.Outcome.Source != Marked || info.EndedAt != nil {
		t.Fatalf("came to %+v, ended %v", info.Outcome, info.EndedAt)
	}
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if info := ended(t, x); info.Outcome.Kind != terminal.Complete {
		t.Errorf("a later stop changed the outcome to %+v", info.Outcome)
	}
}

func TestErrorMarkerBringsItsMessage(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Headless, "echo '"+failed+"'; echo no compiler here; echo '"+done+"'"))
	info := ended(t, x)
	if info.Outcome.Kind != terminal.Error || info.Outcome.Message != "no compiler here" {
		t.Errorf("came to %+v", info.Outcome)
	}
	if len(info.Notes) != 1 || !strings.Contains(info.Notes[0], "complete") {
		t.Errorf("the later word is not noted: %q", info.Notes)
	}
}

func TestSessionThatEndsWithoutAWordIsAnError(t *testing.T) {
	t.Parallel()
	const silent = " (exit code 0): its agent ended without saying whether the work is done"
	for script, message := range map[string]string{
		"exit 0":                                Unexpected + silent,
		"exit 3":                                Unexpected + " (exit code 3)",
		"kill -9 $$":                            Unexpected + " (SIGKILL)",
		"echo '> " + done + "'":                 Unexpected + silent,
		"echo '###TASK_COMPLETE_4###'; exit 12": Unexpected + " (exit code 12)",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			info := ended(t, started(t, newSessions(t), shell(42, Terminal, script)))
			if info.Outcome.Kind != terminal.Error || info.Outcome.Message != message || info.Outcome.Source != Ended {
				t.Errorf("came to %+v, want %q", info.Outcome, message)
			}
		})
	}
}

func TestStartSaysWhyAnAgentDoesNotRun(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	c := shell(42, Terminal, "")
	c.Args = []string{"no-such-agent"}
	if _, err := s.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no-such-agent") {
		t.Errorf("said %v", err)
	}
	c.Place = "nowhere"
	if _, err := s.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("said %v", err)
	}
}

func TestSecondSessionOfAnIssueIsRefused(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, shell(42, Terminal, "read line"))
	if _, err := s.Start(t.Context(), shell(42, Terminal, "read line")); !errors.Is(err, ErrRunning) {
		t.Errorf("said %v", err)
	}
	other := started(t, s, shell(4, Terminal, "read line"))
	if err := other.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if info, err := x.Info(t.Context()); err != nil || info.EndedAt != nil {
		t.Errorf("stopping 4 ended 42: %+v, %v", info, err)
	}
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if again := ended(t, started(t, s, shell(42, Headless, "echo '"+done+"'"))); again.Outcome.Kind != terminal.Complete {
		t.Errorf("the next one came to %+v", again.Outcome)
	}
}

// reporter is a command line that reports by this binary.
func reporter(t *testing.T, word string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s='report %s' %q", roleVariable, word, program)
}

func TestAgentReportsWithTheSessionsToken(t *testing.T) {
	t.Parallel()
	script := reporter(t, "progress half of it") + "; " + TokenVariable + "=guessed " + reporter(t, "complete") + "; " +
		reporter(t, "error no compiler here") + "; " + reporter(t, "complete")
	info := ended(t, started(t, newSessions(t), shell(42, Terminal, script)))
	if info.Outcome.Kind != terminal.Error || info.Outcome.Message != "no compiler here" || info.Outcome.Source != Reported {
		t.Errorf("came to %+v", info.Outcome)
	}
	if info.Progress != "half of it" {
		t.Errorf("progress is %q", info.Progress)
	}
	if notes := strings.Join(info.Notes, "\n"); !strings.Contains(notes, "refused") || !strings.Contains(notes, "later, by report: complete") {
		t.Errorf("notes are %q", info.Notes)
	}
}

// fifo is one that is open for writing, and its path.
func fifo(t *testing.T) (f *os.File, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, path
}

func TestNudgeTypesTextAndThenEnter(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, shell(42, Terminal, "stty raw -echo; printf ready; dd bs=1 count=12 2>/dev/null | od -An -c; printf '\\033[?2004h'; printf brackets; dd bs=1 count=16 2>/dev/null | od -An -c"))
	p, _, _ := attached(t, x, process.TerminalSize{}, "ready")
	if err := x.Nudge(within(t), "hello\nworld"); err != nil {
		t.Fatal(err)
	}
	p.sees(t, "brackets")
	if err := x.Nudge(within(t), "a\nb"); err != nil {
		t.Fatal(err)
	}
	ended(t, x)
	text := regexp.MustCompile(`\s+`).ReplaceAllString(output(t, x), " ")
	for _, want := range []string{`h e l l o \r w o r l d \r`, `033 [ 2 0 0 ~ a \r b 033 [ 2 0 1 ~ \r`} {
		if !strings.Contains(text, want) {
			t.Errorf("typed %q, want %q", text, want)
		}
	}
	for name, text := range map[string]string{"an escape": "\x1b[A", "nothing": " \n", "too much": strings.Repeat("x", nudgeLimit+1), "a direction": "a\u202eb"} {
		if err := x.Nudge(within(t), text); !errors.Is(err, ErrText) {
			t.Errorf("%s: said %v", name, err)
		}
	}
	headless := started(t, s, shell(7, Headless, "sleep 60"))
	if err := headless.Nudge(within(t), "x"); !errors.Is(err, ErrNoTerminal) {
		t.Errorf("a headless session: said %v", err)
	}
}

// family is an agent whose tree leaves its group, and prints its ids.
const family = `setsid sh -c 'echo pid $$; exec sleep 600' & (trap '' HUP; echo pid $(sh -c 'echo $PPID'); exec sleep 600) & echo pid $$; while :; do sleep 600; done`

func pids(t *testing.T, x *Session) (list []int) {
	t.Helper()
	p := newPerson(t)
	p.attach(t, x, process.TerminalSize{})
	found := regexp.MustCompile(`pid (\d+)\r`)
	for ctx := within(t); len(list) < 3; {
		p.mu.Lock()
		text := p.shown.String()
		p.mu.Unlock()
		if matches := found.FindAllStringSubmatch(text, -1); len(matches) == 3 {
			for _, m := range matches {
				list = append(list, number(t, m[1]))
			}
			break
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			t.Fatalf("no three ids in %q", text)
		}
	}
	return list
}

func TestStopEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, family))
	list := pids(t, x)
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	gone(t, list...)
	if info := ended(t, x); info.Outcome.Source != Stopped || info.Outcome.Message != "Session was stopped" {
		t.Errorf("came to %+v", info.Outcome)
	}
}

func TestKilledHostLeavesNoTreeAndTheSessionIsGone(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, shell(42, Terminal, family))
	list := pids(t, x)
	info, err := x.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(info.HostPID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	info = waited(t, x)
	if info.Outcome.Message != Unexpected || info.Outcome.Source != Gone || info.EndedAt == nil {
		t.Errorf("came to %+v", info.Outcome)
	}
	gone(t, list...)
	if !strings.Contains(output(t, x), "pid ") {
		t.Error("the record is lost")
	}
	if all, err := s.List(t.Context()); err != nil || len(all) != 1 || all[0].Outcome.Source != Gone {
		t.Errorf("listed %+v, %v", all, err)
	}
}

func TestSessionOutlivesItsKilledStarter(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	starter := exec.CommandContext(t.Context(), os.Args[0])
	starter.Env = append(os.Environ(), roleVariable+"=start "+s.Root)
	starter.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	secret, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = secret.Close() }()
	starter.ExtraFiles = []*os.File{secret}
	said, err := starter.StdoutPipe()
	if err == nil {
		err = starter.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "started\n" {
		t.Fatalf("starter said %q, %v", line, err)
	}
	_ = unix.Kill(-starter.Process.Pid, unix.SIGKILL)
	_ = starter.Wait()
	x, err := s.Open(t.Context(), Name("", 42))
	if err != nil {
		t.Fatal(err)
	}
	info, err := x.Info(t.Context())
	if err != nil || info.EndedAt != nil {
		t.Fatalf("the session is %+v, %v", info, err)
	}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", info.HostPID))
	nulls := 0
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); to == os.DevNull {
			nulls++
		}
	}
	if nulls != 2 || len(fds) < 5 { // standard input and output
		t.Errorf("the host has %d descriptors of /dev/null among %d", nulls, len(fds))
	}
	if err := x.Nudge(within(t), "go"); err != nil {
		t.Fatal(err)
	}
	if info := ended(t, x); info.Outcome.Kind != terminal.Complete {
		t.Errorf("came to %+v", info.Outcome)
	}
}

// A starter that dies before it has given its order leaves nothing.
func TestHostWithoutAnOrderEnds(t *testing.T) {
	t.Parallel()
	host := exec.CommandContext(t.Context(), os.Args[0], t.TempDir(), "start-none.sock")
	host.Args[0] = HostName
	if err := host.Run(); err == nil {
		t.Error("it found an order")
	}
}

func TestStuckReaderHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	// Some times what queue and sockets hold: a screen is drawn slowly under the race detector.
	x := started(t, newSessions(t), shell(42, Terminal, "read line; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo '"+done+"'; read line"))
	blocked, err := x.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	<-blocked // and no more
	if err := x.Nudge(within(t), "go"); err != nil {
		t.Fatal(err)
	}
	if info := waited(t, x); info.Outcome.Kind != terminal.Complete {
		t.Fatalf("came to %+v", info.Outcome)
	}
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	var lost int64
	for e := range blocked {
		lost += e.Lost
	}
	if lost == 0 {
		t.Error("it was not told what it lost")
	}
}

func TestSessionsAreListedByTheirIssuesNumbers(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	for _, issue := range []int{20, 3, 100} {
		ended(t, started(t, s, shell(issue, Headless, "true")))
	}
	list, err := s.List(t.Context())
	if err != nil || len(list) != 3 || list[0].Issue != 3 || list[1].Issue != 20 || list[2].Issue != 100 {
		t.Errorf("got %+v, %v", list, err)
	}
}
