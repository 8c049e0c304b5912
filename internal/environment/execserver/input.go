package execserver

import (
	"context"
	"io"
)

// input is the server's side of standard input. The client sends at most window unread frames, and then the end, so filling it never blocks.
type input struct {
	ctx    context.Context //nolint:containedctx // Read has no context, and must end with the command
	frames *frames
	queue  chan []byte
	rest   []byte
}

func newInput(ctx context.Context, f *frames) *input {
	return &input{ctx: ctx, frames: f, queue: make(chan []byte, window+1)}
}

// put reports whether the frame was allowed.
func (i *input) put(payload []byte) bool {
	select {
	case i.queue <- append([]byte{}, payload...):
		return true
	default:
		return false
	}
}

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	for len(i.rest) == 0 {
		select {
		case i.rest = <-i.queue:
		case <-i.ctx.Done():
			return 0, io.EOF
		}
		if len(i.rest) == 0 {
			return 0, io.EOF
		}
		if err := i.frames.send(kindMore, nil); err != nil {
			return 0, err
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// feed is the client's side: it sends what from brings as long as more allows it.
func feed(from io.Reader, to *frames, more <-chan struct{}, done <-chan struct{}) error {
	buffer := make([]byte, maxData)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			select {
			case <-more:
			case <-done:
				return nil
			}
			if err := to.send(kindInput, buffer[:n]); err != nil {
				return nil // the command is over, or the other direction reports its loss
			}
		}
		if err == nil {
			continue
		}
		_ = to.send(kindInput, nil)
		if err == io.EOF {
			return nil
		}
		return err
	}
}
