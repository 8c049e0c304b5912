package agent

import (
	"bytes"
	"io"
	"strings"
)

// lastBytes is enough for a last line of any sensible length.
const lastBytes = 4 << 10

// clean returns b as text: valid UTF-8, without space around it.
func clean(b []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
}

// tail keeps the last limit bytes written to it. It uses at most twice that memory, so each byte is moved once on average.
type tail struct {
	limit int
	data  []byte
	cut   bool // something before them was dropped
}

func (t *tail) Write(p []byte) (int, error) {
	written := len(p)
	t.cut = t.cut || len(t.data)+written > t.limit
	if written > t.limit {
		p = p[written-t.limit:]
	}
	if len(t.data)+len(p) > 2*t.limit {
		t.data = append(t.data[:0], t.last()...)
	}
	t.data = append(t.data, p...)
	return written, nil
}

// last returns the bytes kept. They are valid until the next write.
func (t *tail) last() []byte {
	return t.data[max(0, len(t.data)-t.limit):]
}

// marked returns last as text, beginning with an ellipsis if anything was dropped.
func (t *tail) marked() string {
	text := clean(t.last())
	if t.cut {
		return "…" + text
	}
	return text
}

// limited keeps the beginning of what is written to it. It drops a write that doesn't fit and everything after it, so a protocol is cut between two
// lines.
type limited struct {
	to   io.Writer
	left int64 // bytes that still fit
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.cut = l.cut || int64(len(p)) > l.left; l.cut {
		return len(p), nil
	}
	l.left -= int64(len(p))
	return l.to.Write(p)
}

// maxLine is the longest line of a protocol, in bytes: a tool's whole result may be on one line.
const maxLine = 16 << 20

// lines splits the bytes written to it into lines. each gets a line without its end, or nothing if the line was longer than maxLine (cut). Empty lines
// are skipped.
type lines struct {
	each    func(line []byte, cut bool) error
	part    []byte // the unfinished line
	dropped bool   // it is too long, and only its end is awaited
}

func (l *lines) Write(p []byte) (int, error) {
	written := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.add(p)
			return written, nil
		}
		l.add(p[:end])
		if err := l.finish(); err != nil {
			return 0, err
		}
		p = p[end+1:]
	}
}

func (l *lines) add(p []byte) {
	if l.dropped = l.dropped || len(l.part)+len(p) > maxLine; l.dropped {
		l.part = l.part[:0]
		return
	}
	l.part = append(l.part, p...)
}

// finish passes on the unfinished last line, if there is one.
func (l *lines) finish() error {
	line, dropped := bytes.TrimSuffix(l.part, []byte("\r")), l.dropped
	l.part, l.dropped = l.part[:0], false
	if len(line) == 0 && !dropped {
		return nil
	}
	return l.each(line, dropped)
}
