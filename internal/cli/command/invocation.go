// Package command is what every command of the command line stands on: the terminal's one door (Streams), the invocation with
// what it prints, asks and masks, the project that it opens, flags that several commands have, and wrong usage in our words.
package command

import (
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
)

// Streams is the terminal, or what stands for it.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal says that Out is one; then lines are redrawn, and Color allows colour.
	Terminal bool
	Color    bool
	// Width is the terminal's columns; 80 when it is none.
	Width func() int
	Env   func(string) string
	Dir   string
	// Clock is what the self-healing loop waits by; nil is this machine's.
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

// Console is the terminal of an invocation, or what stands for it.
type Console struct {
	In              io.Reader
	Out, Err        io.Writer
	Terminal, Color bool
	Width           func() int
}

// Invocation is one use of the command line.
type Invocation struct {
	// console masks what is printed; bare is as it was given, for the terminal of another program.
	Console
	Bare Console
	mask *mask
	// Notices are the notifications on their way.
	Notices *sync.WaitGroup
	JSON    bool
	// Opener opens the project, as the flags of this command line want it.
	Opener *wire.Opener
}

func NewInvocation(s Streams) *Invocation {
	bare := Console{s.In, s.Out, s.Err, s.Terminal, s.Color, s.Width}
	a := &Invocation{Console: bare, Bare: bare, mask: &mask{}, Notices: &sync.WaitGroup{}}
	a.Out, a.Err = maskedWriter{s.Out, a.mask}, maskedWriter{s.Err, a.mask}
	a.Opener = &wire.Opener{Env: s.Env, Dir: wire.AboveClones(s.Dir), Clock: s.Clock, Warn: a.Warn, Mended: a.Mended, Learn: a.mask.use, Notices: a.Notices, AskTrust: a.AskTrust}
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
	if p.Err == nil { // said already
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

// Mended says what was read in an older form.
func (a *Invocation) Mended(path string, notes []string) {
	for _, note := range notes {
		_, _ = fmt.Fprintf(a.Err, "%s %s: %s\n", a.Paint(Yellow, "fixed:"), path, redact.Line(note, 300))
	}
}

// Say tells a person what a program sees by an empty output.
func (a *Invocation) Say(line string) { _, _ = fmt.Fprintln(a.Err, line) }
