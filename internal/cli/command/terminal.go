package command

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"signalbox/internal/process"
)

// ReadLine reads a line, unless ctx ends first: then whoever reads is left behind, as nobody can call it back.
func ReadLine(ctx context.Context, lines *bufio.Reader) (string, error) {
	var line string
	read := make(chan error, 1)
	go func() {
		var err error
		line, err = lines.ReadString('\n')
		read <- err
	}()
	select {
	case err := <-read:
		return line, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func SizeOf(file *os.File) process.TerminalSize {
	columns, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return process.TerminalSize{}
	}
	return process.TerminalSize{Rows: uint16(rows), Columns: uint16(columns)}
}

// Sizes tells the terminal's size whenever it changes.
func Sizes(file *os.File) (resize <-chan process.TerminalSize, stop func()) {
	changed, sent := make(chan os.Signal, 1), make(chan process.TerminalSize, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			select {
			case sent <- SizeOf(file):
			default:
			}
		}
	}()
	return sent, func() {
		signal.Stop(changed)
		close(changed)
	}
}
