package execserver

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// kind is the first byte of a frame. The length follows in four bytes, big-endian, then as many bytes. One
// connection carries one command.
type kind byte

const (
	kindOrder  kind = 'c' // to the server, first: an order
	kindInput  kind = 'i' // to the server: bytes of standard input; none are its end
	kindCancel kind = 'k' // to the server: end the command
	kindSize   kind = 'z' // to the server: the terminal's rows and columns, two bytes each
	kindMore   kind = 'm' // to the client: one frame of input was read
	kindOut    kind = 'o' // to the client: bytes of standard output
	kindErr    kind = 'e' // to the client: bytes of standard error
	kindEnd    kind = 'r' // to the client, last: an end
	kindFailed kind = 'f' // to the client, last: a failure
)

const (
	// maxData limits a frame of bytes, maxOrder an order: the kernel starts no program with more than a
	// quarter of 8 MiB of arguments and variables.
	maxData  = 64 << 10
	maxOrder = 4 << 20
	// window is how many frames of input may be on their way unread.
	window = 4
)

// errFrame: the bytes are no frame that may come here.
var errFrame = errors.New("not a frame of the protocol")

// frames writes frames. Several goroutines may use it.
type frames struct {
	mu sync.Mutex
	to io.Writer
}

func (f *frames) send(k kind, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	head := [5]byte{byte(k)}
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload)))
	if _, err := f.to.Write(append(head[:], payload...)); err != nil {
		return fmt.Errorf("send frame %q: %w", k, err)
	}
	return nil
}

func (f *frames) sendJSON(k kind, value any) error {
	payload, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode frame %q: %w", k, err)
	}
	if len(payload) > maxOrder {
		return fmt.Errorf("send frame %q of %d bytes: want at most %d", k, len(payload), maxOrder)
	}
	return f.send(k, payload)
}

// stream is one direction of output as a Writer.
type stream struct {
	frames *frames
	kind   kind
}

func (s *stream) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), maxData)]
		if err := s.frames.send(s.kind, part); err != nil {
			return written, err
		}
		written, p = written+len(part), p[len(part):]
	}
	return written, nil
}

// reader reads frames into one buffer, which the next frame overwrites.
type reader struct {
	from   io.Reader
	buffer []byte
}

// next returns the next frame. The error is errFrame if it is longer than its kind may be.
func (r *reader) next() (k kind, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return 0, nil, err
	}
	k, length := kind(head[0]), int(binary.BigEndian.Uint32(head[1:]))
	limit := maxData
	if k == kindOrder {
		limit = maxOrder
	}
	if length > limit {
		return 0, nil, fmt.Errorf("read frame %q of %d bytes: %w", k, length, errFrame)
	}
	if length > cap(r.buffer) {
		r.buffer = make([]byte, max(length, 4<<10))
	}
	payload = r.buffer[:length]
	_, err = io.ReadFull(r.from, payload)
	return k, payload, err
}
