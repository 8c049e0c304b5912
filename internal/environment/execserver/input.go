package execserver

import (
	"context"
	"encoding/binary"
	"io"

	"signalbox/internal/process"
)

// input is the server's side of standard input. The client sends at most window unread frames, and then
// the end, so filling it never blocks.
type input struct {
	ctx    context.Context //nolint:containedctx // Read has no context, and must end with the command
	frames *frames
	queue  chan []byte
	rest   []byte
}

// take handles one frame that may come while a command runs, and reports whether more may follow.
func (r *reader) take(in *input, sizes chan process.TerminalSize) bool {
	k, payload, err := r.next()
	switch {
	case err != nil:
		return false
	case k == kindInput:
		select {
		case in.queue <- append([]byte{}, payload...):
			return true
		default:
			return false // more than the window allows
		}
	case k == kindSize && len(payload) == 4:
		size := process.TerminalSize{Rows: binary.BigEndian.Uint16(payload), Columns: binary.BigEndian.Uint16(payload[2:])}
		select {
		case <-sizes: // only the last one counts
		default:
		}
		sizes <- size
		return true
	}
	return false
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

// feed is the client's side: it sends the bytes of from as long as more allows it.
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
