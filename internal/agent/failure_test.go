package agent

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"signalbox/internal/process"
)

func TestEndOf(t *testing.T) {
	t.Parallel()
	task := Task{Idle: time.Minute, Total: time.Hour}
	for _, test := range []struct {
		name    string
		end     process.Result
		last    string
		code    FailureCode
		message string
	}{
		{name: "exit code 0 is a good end", end: process.Result{Ending: process.Exited}},
		{name: "another exit code", end: process.Result{Ending: process.Exited, ExitCode: 3}, last: "no quota", code: Crashed, message: `agent "a" exited with code 3: no quota`},
		{name: "a signal", end: process.Result{Ending: process.Exited, ExitCode: -1, Signal: "SIGSEGV"}, code: Crashed, message: `agent "a" was ended by SIGSEGV`},
		{name: "silence", end: process.Result{Ending: process.Idled, ExitCode: -1, Signal: "SIGTERM"}, code: Hung, message: `agent "a" printed nothing for 1m0s`},
		{name: "silence ended politely is silence", end: process.Result{Ending: process.Idled}, code: Hung, message: `agent "a" printed nothing for 1m0s`},
		{name: "no end", end: process.Result{Ending: process.TimedOut}, code: TimedOut, message: `agent "a" had not ended after 1h0m0s`},
		{name: "out of memory", end: process.Result{Ending: process.NoMemory, ExitCode: -1, Signal: "SIGKILL"}, code: NoMemory, message: `agent "a" was ended by the kernel: out of memory`},
		{name: "127 in silence is a missing program", end: process.Result{Ending: process.Exited, ExitCode: 127}, code: Unavailable, message: `program "p" of agent "a" cannot be started: "p" is not found where it runs: install it there`},
		{name: "127 of a shell names another", end: process.Result{Ending: process.Exited, ExitCode: 127}, last: "agent.sh: 3: no-such-linter: not found", code: Unavailable,
			message: `program "p" of agent "a" cannot be started: "no-such-linter" is not found where it runs: install it there (agent.sh: 3: no-such-linter: not found)`},
		{name: "126 is a program that cannot be run", end: process.Result{Ending: process.Exited, ExitCode: 126}, last: "sh: 1: exec: p: Argument list too long", code: Unavailable,
			message: `program "p" of agent "a" cannot be started: sh: 1: exec: p: Argument list too long`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Program{Agent: "a", Args: []string{"p"}}.endOf(task, test.end, test.last)
			if got == nil {
				got = &Failure{}
			}
			if got.Code != test.code || got.Message != test.message {
				t.Errorf("endOf = %+v, want %s %q", *got, test.code, test.message)
			}
		})
	}
}

func TestMessagesAreOneCleanLine(t *testing.T) {
	t.Parallel()
	got := lastLine("first\n\x1b[2Jse\u202econd\u200b\r\n\u2060 \x07\n")
	if got != "second" {
		t.Errorf("lastLine = %q", got)
	}
	if long := []rune(line(strings.Repeat("é", 1000))); len(long) != messageRunes {
		t.Errorf("a long line became one of %d runes, want %d", len(long), messageRunes)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3, 7, 10, 11, 25} {
		text := strings.Repeat("0123456789abcdefghij", 5)
		kept := tail{limit: 10}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if written, err := kept.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("Write = %d, %v", written, err)
			}
			rest = rest[n:]
		}
		if got := string(kept.last()); got != text[len(text)-10:] {
			t.Errorf("in writes of %d: last = %q", size, got)
		}
		if got := kept.marked(); got != "…"+text[len(text)-10:] {
			t.Errorf("in writes of %d: marked = %q", size, got)
		}
		if cap(kept.data) > 32 {
			t.Errorf("in writes of %d: %d bytes held for 10", size, cap(kept.data))
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	task := Task{Role: "implementer", Key: "7-call", StepID: "S01", Attempt: 2, Env: []string{"SIGNALBOX_RUN_ID=r", "A=task", "SIGNALBOX_ROLE=forged"}}
	got := strings.Join(task.environ([]string{"A=own", "B=1", "SIGNALBOX_STEP=forged"}), " ")
	want := "A=task B=1 SIGNALBOX_STEP=S01 SIGNALBOX_RUN_ID=r SIGNALBOX_ROLE=implementer SIGNALBOX_KEY=7-call SIGNALBOX_ATTEMPT=2 SIGNALBOX_ROUND=0"
	if got != want {
		t.Errorf("environ =\n%s, want\n%s", got, want)
	}
}

type executor func() (process.Result, error)

func (e executor) Exec(context.Context, process.Command) (process.Result, error) { return e() }

func TestErrorOfTheExecutor(t *testing.T) {
	t.Parallel()
	began := time.Unix(1, 0)
	broken := errors.New("broken")
	for _, test := range []struct {
		name        string
		end         process.Result
		err         error
		unavailable bool
	}{
		{name: "before the start: the agent is unavailable", err: broken, unavailable: true},
		{name: "a sandbox that found no program: likewise", end: process.Result{Started: began, Ending: process.Exited, ExitCode: 1}, err: broken, unavailable: true},
		{name: "after a good end: the log is not whole", end: process.Result{Started: began, Ending: process.Exited}, err: broken},
		{name: "after a deadline", end: process.Result{Started: began, Ending: process.TimedOut, ExitCode: -1}, err: broken},
		{name: "the end was not seen", end: process.Result{Started: began, Ending: process.Exited, ExitCode: -1}, err: process.ErrUnkillable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := Program{Agent: "a", Args: []string{"p"}}
			result, err := p.Run(t.Context(), Task{Log: io.Discard}, executor(func() (process.Result, error) { return test.end, test.err }))
			if test.unavailable != (err == nil) || test.unavailable != (result.Failure != nil) {
				t.Fatalf("Run = %+v, %v", result.Failure, err)
			}
			if err != nil && !errors.Is(err, test.err) {
				t.Errorf("Run = %v, want %v", err, test.err)
			}
			if test.unavailable && result.Failure.Message != `program "p" of agent "a" cannot be started: broken` {
				t.Errorf("Failure = %+v", *result.Failure)
			}
		})
	}
}
