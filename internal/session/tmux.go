package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"signalbox/internal/process"
)

// TmuxArgs returns the command that attaches to the window of a session. Its target is exact:
// otherwise tmux treats a name as a prefix, and attaches to 42 for 4.
func (i *Info) TmuxArgs() []string {
	return append(tmuxServer(i.TmuxSocket), "attach-session", "-t", "="+i.Name)
}

func tmuxServer(socket string) []string {
	if socket == "" {
		return []string{"tmux"}
	}
	return []string{"tmux", "-L", socket}
}

// showInPane attaches the pane, which is this process's terminal, like any other. It reads from a
// queue of its own, so a stuck tmux delays no other reader.
func (h *host) showInPane(ctx context.Context) (leave func(), err error) {
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("prepare pane: %w", err)
	}
	go h.typeFromPane()
	r := h.raw.join()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		var buffer []byte
		for {
			<-r.arrived
			p := r.take(buffer)
			if p.lost > 0 {
				_, _ = fmt.Fprintf(os.Stdout, "\r\n[signalbox: %d bytes are not shown]\r\n", p.lost)
			}
			_, err := os.Stdout.Write(p.output)
			if p.closed || errors.Is(err, syscall.EIO) || errors.Is(err, io.ErrClosedPipe) {
				return
			}
			buffer = p.output
		}
	}()
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for {
			if size, err := unix.IoctlGetWinsize(int(os.Stdin.Fd()), unix.TIOCGWINSZ); err == nil {
				h.setSize(process.TerminalSize{Rows: size.Row, Columns: size.Col})
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		<-shown
		_ = term.Restore(int(os.Stdin.Fd()), before)
	}, nil
}

func (h *host) typeFromPane() {
	buffer := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buffer)
		if err != nil {
			h.end(Gone)
			return
		}
		_ = h.typeIn(buffer[:n]) // an agent that doesn't read loses it, as in any terminal
	}
}
