package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
)

// Attachment is a person's terminal. It is raw: every key arrives as it is typed.
type Attachment struct {
	// In may still be read until the next key after Attach has returned.
	In  io.Reader
	Out io.Writer
	// Size is the terminal's size; Resize (which may be nil) brings later ones.
	Size   process.TerminalSize
	Resize <-chan process.TerminalSize
	// Detach is the key that leaves; zero is DefaultDetach.
	Detach byte
}

// DefaultDetach is Ctrl-\.
const DefaultDetach = 0x1c

// Attach shows the session in the terminal and types into it, until the person leaves, the session
// ends, or ctx does. The session itself continues. Its window takes the size of the latest attached
// terminal. At the end Attach takes back what the agent switched on in the terminal.
func (x *Session) Attach(ctx context.Context, a Attachment) (detached bool, err error) {
	if a.Detach == 0 {
		a.Detach = DefaultDetach
	}
	conn, _, err := x.request(ctx, request{Op: opAttach, Size: a.Size})
	if err != nil {
		return false, err
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	out := &frames{to: conn}
	go a.typeTo(out, leave)
	go a.followSize(ctx, out)
	changed := terminal.NewModes()
	defer func() {
		if _, errReset := a.Out.Write(changed.Reset()); err == nil && errReset != nil {
			err = fmt.Errorf("leave session %s: %w", x.name, errReset)
		}
	}()
	for {
		kind, payload, err := readFrame(conn, frameLimit)
		if err != nil {
			return errors.Is(context.Cause(ctx), errDetached), nil
		}
		switch kind {
		case framePrinted:
			changed.Skip(payload, len(payload))
			_, err = a.Out.Write(payload)
		case frameLost:
			_, err = fmt.Fprintf(a.Out, "\r\n[signalbox: %s bytes are not shown]\r\n", payload)
		}
		if err != nil {
			return false, fmt.Errorf("show session %s: %w", x.name, err)
		}
	}
}

var errDetached = errors.New("detached")

// escapePause is how long to wait for the rest of a sequence; its start may have been the key Escape.
const escapePause = 50 * time.Millisecond

// typeTo passes on typed text. The end of input leaves, like the key.
func (a *Attachment) typeTo(out *frames, leave context.CancelCauseFunc) {
	buffer := make([]byte, 4096)
	var mu sync.Mutex
	keys := terminal.LeaveKey{Key: a.Detach}
	escaped := time.AfterFunc(time.Hour, func() {
		mu.Lock()
		defer mu.Unlock()
		if typed := keys.Rest(); len(typed) > 0 {
			_ = out.send(frameInput, typed)
		}
	})
	defer escaped.Stop()
	for {
		n, err := a.In.Read(buffer)
		mu.Lock()
		typed, left := keys.Take(buffer[:n])
		if err != nil {
			typed = append(typed, keys.Rest()...)
		}
		if len(keys.Held) > 0 {
			escaped.Reset(escapePause)
		}
		gone := len(typed) > 0 && out.send(frameInput, typed) != nil
		mu.Unlock()
		if gone {
			return
		}
		if left || err != nil {
			leave(errDetached)
			return
		}
	}
}

func (a *Attachment) followSize(ctx context.Context, out *frames) {
	for {
		select {
		case size, open := <-a.Resize:
			if !open || out.sendJSON(frameSize, size) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
