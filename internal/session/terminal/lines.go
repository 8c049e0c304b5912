package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi/parser"

	"signalbox/internal/redact"
)

// LineLimit bounds a line, in bytes: a longer one comes in several.
const LineLimit = 4096

// LineReader cuts output into lines, without sequences.
type LineReader struct {
	held     []byte
	Sequence sequence
	told     bool // what there was of the line so far
}

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

// Pending reports whether there is a line that has not ended.
func (l *LineReader) Pending() bool { return len(l.held) > 0 }

func (l *LineReader) Rest() string {
	line := redact.Clean(strings.TrimRight(string(l.held), "\r"))
	l.held, l.told = l.held[:0], true
	return line
}
