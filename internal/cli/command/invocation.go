// Package command is what all commands share: the terminal (Streams), the invocation that prints, asks and masks, the project
// it opens, common flags, and errors about wrong usage.
package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
	"signalbox/internal/wire/folder"
)

// Streams is the terminal, or its substitute.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal: Out is a terminal. Then lines are redrawn, and Color allows colour.
	Terminal bool
	Color    bool
	// Width is the terminal's columns; 80 if Out is no terminal.
	Width func() int
	Env   func(string) string
	Dir   string
	// Clock is the self-healing loop's; nil is this machine's.
	Clock func() time.Time
}

// System is the real terminal.
func System() Streams {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	terminal := term.IsTerminal(int(os.Stdout.Fd()))
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: terminal,
		Color: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Width: func() int {
			if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 20 {
				return width
			}
			return 80
		}, Env: os.Getenv, Dir: dir}
}

// Console is the terminal of an invocation, or its substitute.
type Console struct {
	In              io.Reader
	Out, Err        io.Writer
	Terminal, Color bool
	Width           func() int
}

// Invocation is one use of the command line.
type Invocation struct {
	// Console masks what is printed; Bare doesn't, for the terminal of another program.
	Console
	Bare Console
	mask *mask
	// Notices counts the notifications under way.
	Notices *sync.WaitGroup
	JSON    bool
	// lines are those that the person types.
	lines *bufio.Reader
	// Opener opens the project with the flags of this command line.
	Opener *wire.Opener
}

func NewInvocation(s Streams) *Invocation {
	bare := Console{s.In, s.Out, s.Err, s.Terminal, s.Color, s.Width}
	a := &Invocation{Console: bare, Bare: bare, mask: &mask{}, Notices: &sync.WaitGroup{}}
	a.Out, a.Err = maskedWriter{s.Out, a.mask}, maskedWriter{s.Err, a.mask}
	a.Opener = &wire.Opener{Env: s.Env, Dir: folder.AboveClones(s.Dir), Clock: s.Clock, Warn: a.Warn, Mended: a.Mended, Learn: a.mask.use, Notices: a.Notices, AskTrust: a.AskTrust}
	return a
}

// ShowError prints an error and what to do about it; text from outside is cleaned.
func (a *Invocation) ShowError(err error) {
	if err == nil {
		return
	}
	var p *problem.Error
	if !errors.As(err, &p) {
		p = &problem.Error{Err: err}
	}
	if p.Err == nil { // printed already
		return
	}
	_, _ = fmt.Fprintf(a.Err, "%s %s\n", a.Paint(Red, "error:"), redact.Clean(p.Err.Error()))
	if p.Hint != "" {
		_, _ = fmt.Fprintf(a.Err, "%s  %s\n", a.Paint(Bold, "hint:"), redact.Clean(p.Hint))
	}
}

func (a *Invocation) Print(format string, args ...any) { _, _ = fmt.Fprintf(a.Out, format, args...) }

const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
	Bold   = "1"
	Faint  = "2"
)

func (a *Invocation) Paint(code, text string) string {
	if !a.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (a *Invocation) Warn(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Err, "%s %s\n", a.Paint(Yellow, "warning:"), redact.Clean(fmt.Sprintf(format, args...)))
}

// Mended reports what was read in an older form.
func (a *Invocation) Mended(path string, notes []string) {
	for _, note := range notes {
		_, _ = fmt.Fprintf(a.Err, "%s %s: %s\n", a.Paint(Yellow, "fixed:"), path, redact.Line(note, 300))
	}
}

// Say tells a person on standard error what a program learns from empty output.
func (a *Invocation) Say(line string) { _, _ = fmt.Fprintln(a.Err, line) }

// mask removes secrets from everything that a command prints, wherever its text came from: documents and logs were redacted
// when they were written, errors and a program's answers weren't. It sees through colours, so it may come before or after cleaning.
type mask struct {
	mu       sync.Mutex
	redactor *redact.Redactor
}

// use replaces the redactor known so far, which knows this process's environment by its names. A nil mask ignores it.
func (m *mask) use(r *redact.Redactor) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.redactor = r
}

func (m *mask) known() *redact.Redactor {
	if m == nil {
		return redact.New(nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.redactor == nil {
		m.redactor = redact.New(wire.SecretsOf(os.Environ(), nil))
	}
	return m.redactor
}

// maskedWriter redacts each write on its own and holds nothing back, because a question must be visible before its answer.
// This package prints whole lines.
type maskedWriter struct {
	to   io.Writer
	mask *mask
}

func (w maskedWriter) Write(p []byte) (int, error) {
	if _, err := w.to.Write(w.mask.known().Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
