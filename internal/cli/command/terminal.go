package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"signalbox/internal/process"
)

// Typist returns the terminal that the person types at, or nil if standard input isn't one.
func (a *Invocation) Typist() *os.File {
	if file, ok := a.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// CanAsk reports whether a question would reach a person: standard input isn't a file or pipe.
func (a *Invocation) CanAsk() bool {
	_, file := a.In.(*os.File)
	return !file || a.Typist() != nil
}

// ReadLine reads a line, unless ctx ends first: then the read is abandoned, because it can't be interrupted.
func (a *Invocation) ReadLine(ctx context.Context) (string, error) {
	if a.lines == nil {
		a.lines = bufio.NewReader(io.LimitReader(a.In, 1<<20))
	}
	lines, line, read := a.lines, "", make(chan error, 1)
	go func() {
		var err error
		line, err = lines.ReadString('\n')
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("read the answer: %w", err)
		}
		return strings.TrimSpace(line), err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Confirm asks a question that only y or yes agrees to.
func (a *Invocation) Confirm(ctx context.Context, question string) (bool, error) {
	_, _ = fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer, err := a.ReadLine(ctx)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// Keys sends what the person types, key by key and without an echo, until ctx ends; restore gives the terminal back.
// Without a terminal to type at, nothing is ever sent.
func (a *Invocation) Keys(ctx context.Context) (typed <-chan byte, restore func()) {
	in := a.Typist()
	if in == nil || !a.Terminal {
		return nil, func() {}
	}
	before, err := unix.IoctlGetTermios(int(in.Fd()), unix.TCGETS)
	if err != nil {
		return nil, func() {}
	}
	byKey := *before
	byKey.Lflag &^= unix.ICANON | unix.ECHO // Ctrl-C and the like stay signals, and output stays as it is
	byKey.Cc[unix.VMIN], byKey.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(in.Fd()), unix.TCSETS, &byKey); err != nil {
		return nil, func() {}
	}
	sent := make(chan byte)
	go func() {
		key := make([]byte, 1)
		for {
			if n, err := in.Read(key); err != nil || n == 0 {
				return
			}
			select {
			case sent <- key[0]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return sent, func() { _ = unix.IoctlSetTermios(int(in.Fd()), unix.TCSETS, before) }
}

// Raw hands the person's terminal to another program, which then sees every key and each change of the size. Afterwards the
// terminal is as it was. Without a terminal, t is nil.
func (a *Invocation) Raw() (t *process.Terminal, restore func() error, err error) {
	in := a.Typist()
	if in == nil {
		return nil, func() error { return nil }, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, nil, fmt.Errorf("prepare terminal: %w", err)
	}
	changed, sent := make(chan os.Signal, 1), make(chan process.TerminalSize, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			select {
			case sent <- SizeOf(in):
			default:
			}
		}
	}()
	return &process.Terminal{Size: SizeOf(in), Resize: sent}, func() error {
		signal.Stop(changed)
		close(changed)
		return term.Restore(int(in.Fd()), before)
	}, nil
}

// SizeOf returns a terminal's size, zero if it doesn't tell.
func SizeOf(file *os.File) process.TerminalSize {
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return process.TerminalSize{}
	}
	return process.TerminalSize{Rows: uint16(rows), Columns: uint16(columns)}
}
