package process

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAProgramGetsATerminalOfItsOwn(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	resize := make(chan TerminalSize)
	result, err := Run(t.Context(), Command{
		Args: []string{"sh", "-c", `test -t 0 && test -t 1 && test -t 2 && stty size && read line </dev/tty && echo "got $line" && ! read more && echo end`},
		Env:  []string{"PATH=/usr/bin:/bin"}, Stdin: strings.NewReader("hello\n"), Stdout: &out, Total: 2 * time.Minute,
		Terminal: &Terminal{Size: TerminalSize{Rows: 31, Columns: 97}, Resize: resize},
	})
	if err != nil || !result.OK() {
		t.Errorf("%+v, %v", result, err)
	}
	for _, want := range []string{"31 97", "got hello", "end"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
}

// reports tells when a text went by.
type reports struct {
	io.Writer
	text string
	seen chan struct{}
	all  []byte
}

func (r *reports) Write(p []byte) (int, error) {
	had := bytes.Contains(r.all, []byte(r.text))
	r.all = append(r.all, p...)
	if !had && bytes.Contains(r.all, []byte(r.text)) {
		close(r.seen)
	}
	return len(p), nil
}

func TestATerminalIsResizedWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	resize := make(chan TerminalSize)
	out := &reports{text: "ready", seen: make(chan struct{})}
	go func() {
		<-out.seen
		resize <- TerminalSize{Rows: 50, Columns: 132}
	}()
	result, err := Run(t.Context(), Command{Args: []string{"sh", "-c", `trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done`},
		Env: []string{"PATH=/usr/bin:/bin"}, Stdout: out, Total: 2 * time.Minute, Terminal: &Terminal{Resize: resize}})
	if err != nil || !result.OK() || !bytes.Contains(out.all, []byte("50 132")) {
		t.Errorf("%+v, %v: %q", result, err, out.all)
	}
}

func TestTheProgramsEndCountsWhileAnotherHoldsTheTerminal(t *testing.T) {
	t.Parallel()
	typed, typing := io.Pipe()
	out := &reports{text: "\n", seen: make(chan struct{})}
	held := make(chan *os.File, 1)
	go func() {
		<-out.seen
		file, err := os.OpenFile(strings.TrimSpace(string(out.all)), os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			t.Error(err)
		}
		held <- file
		_, _ = typing.Write([]byte("\n"))
	}()
	result, err := Run(t.Context(), Command{Args: []string{"sh", "-c", "tty; read line; exit 3"}, Env: []string{"PATH=/usr/bin:/bin"}, Stdin: typed, Stdout: out,
		Terminal: &Terminal{}})
	if err != nil || result.ExitCode != 3 {
		t.Errorf("%+v, %v: %q", result, err, out.all)
	}
	_, _ = (<-held).Close(), typed.Close()
}
