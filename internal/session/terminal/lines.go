package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi/parser"

	"signalbox/internal/redact"
)

// LineLimit limits a line, in bytes: a longer one comes in several parts.
const LineLimit = 4096

// LineReader cuts output into lines, without sequences.
type LineReader struct {
	held     []byte
	Sequence sequence
	told     bool // a part of the line was told before
}

// Split passes the lines that p ends to tell, until tell returns false.
func (l *LineReader) Split(p []byte, tell func(string) bool) bool {
	for _, b := range p {
		switch {
		case b == '\n':
			l.Sequence.state = parser.GroundState // as on the screen
			told := l.told
			if line := l.Rest(); (line != "" || !told) && !tell(line) {
				return false
			}
			l.told = false
		case b == '\x1b' || l.Sequence.Inside():
			l.Sequence.advance(b)
		default:
			if len(l.held) >= LineLimit && !tell(l.Rest()) {
				return false
			}
			l.held = append(l.held, b)
		}
	}
	return true
}

// Pending reports whether a line has begun and not ended.
func (l *LineReader) Pending() bool { return len(l.held) > 0 }

// Rest returns the line so far, cleaned, and starts anew.
func (l *LineReader) Rest() string {
	line := redact.Clean(strings.TrimRight(string(l.held), "\r"))
	l.held, l.told = l.held[:0], true
	return line
}
