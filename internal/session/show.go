package session

import (
	"bytes"
	"os"
	"strings"

	"signalbox/internal/session/terminal"
)

// Who watches reads lines. What a program prints that moves about on the screen makes none: of such a
// one watchers are told what stands there. All of this is called while detecting is held.

// undrawn is how much of p is lines before a program begins to draw; none where it does not.
func undrawn(p []byte) (n int) {
	if !bytes.ContainsRune(p, '\x1b') {
		return 0
	}
	probe := terminal.NewScreen(terminal.DefaultRows, 0)
	for line := range bytes.Lines(p) {
		if probe.Write(line); probe.Drawn {
			return n
		}
		n += len(line)
	}
	return 0
}

// leave takes a line that leaves the screen of a program that draws.
func (h *host) leave(line string) {
	if h.order.Config.Mode != Headless {
		h.drawing().leave(h.hide(line))
	}
}

// cancel ends a sequence that is not whole.
const cancel = '\x18'

// drawing is what stands on the screen but for what watchers have read already.
func (h *host) drawing() *standing {
	if h.standing != nil {
		return h.standing
	}
	h.standing = &standing{}
	_ = h.telling.Close() // what it held back
	// If the text record can't begin, the record of all output remains.
	err := os.Mkdir(textFolder, privateMode)
	if err == nil {
		h.text, err = newRecord(textFolder, h.order.Config.RecordLimit)
	}
	if err == nil {
		err = h.copyUndrawn()
	}
	if err != nil {
		h.dropText(err)
	}
	var text terminal.LineReader
	read := func(line string) bool {
		h.standing.seen(strings.TrimRight(line, " "))
		return true
	}
	if text.Split(h.clean.last(), read); text.Pending() {
		read(text.Rest())
		h.tellText([]byte("\n"))
	} else if text.Sequence.Inside() { // its end was held back for a secret's beginning, and is never told
		h.tellText([]byte{cancel})
	}
	return h.standing
}

// look tells watchers what stands on the screen since the last look. It reports whether another one may find more.
func (h *host) look() (more bool) {
	if h.standing == nil {
		return false
	}
	stand := h.detector.Lines()
	for i, line := range stand {
		stand[i] = h.hide(line)
	}
	lines, more := h.standing.look(stand)
	h.tellLines(append(h.standing.take(), lines...))
	return more
}

func (h *host) tellLines(lines []string) {
	if len(lines) == 0 {
		return
	}
	h.tellText([]byte(strings.Join(lines, "\n") + "\n"))
}
