package process

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	readSize = 32 << 10
	// lastWords is how long a pipe that a process still holds open after the end of the tree may be silent before it is abandoned. lastBytes is how
	// much may still come out of it: the most that an ordinary pipe holds.
	lastWords = 50 * time.Millisecond
	lastBytes = 1 << 20
)

// output is our end of a pipe, and where it goes.
type output struct {
	pipe *os.File
	to   io.Writer
	sink *sink
}

// copy passes on what the pipe brings until its end, or until it is quiet once finish set a deadline.
func (o *output) copy() {
	buffer := make([]byte, readSize)
	for left := math.MaxInt; left > 0; {
		n, err := o.pipe.Read(buffer)
		o.sink.pass(o.to, buffer[:n])
		left -= n
		hurried := errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case hurried && left > lastBytes:
			left = lastBytes
		case err != nil:
			return
		}
		if left <= lastBytes {
			_ = o.pipe.SetReadDeadline(time.Now().Add(lastWords))
		}
	}
}

// sink passes output on up to a limit, one Writer call at a time.
type sink struct {
	begun   time.Time
	printed atomic.Int64 // time of the last output, in nanoseconds after begun

	mu   sync.Mutex
	left int64 // bytes that may still be passed on
	cut  bool
	err  error // of a Writer; nothing more is passed on
}

func (s *sink) pass(to io.Writer, p []byte) {
	if len(p) == 0 {
		return
	}
	s.printed.Store(int64(time.Since(s.begun)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(len(p)) > s.left {
		p, s.cut = p[:s.left], true
	}
	s.left -= int64(len(p))
	if len(p) == 0 || to == nil || s.err != nil {
		return
	}
	if _, err := to.Write(p); err != nil {
		s.err = fmt.Errorf("write output: %w", err)
	}
	s.printed.Store(int64(time.Since(s.begun)))
}
