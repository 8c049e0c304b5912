package command

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Keys sends what the person types, key by key and without an echo, until ctx ends; restore gives the terminal back.
// Without a terminal to type at, nothing is ever sent.
func (a *Invocation) Keys(ctx context.Context) (typed <-chan byte, restore func()) {
	in, ok := a.In.(*os.File)
	if !ok || !a.Terminal || !term.IsTerminal(int(in.Fd())) {
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
