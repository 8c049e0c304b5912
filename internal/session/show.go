package session

import (
	"os"
	"strings"

	"signalbox/internal/session/terminal"
)

// Watchers read lines. A program that draws prints none, so watchers get the lines that stay on its
// screen. All of this is called while detecting is held.

// cancel ends an incomplete sequence.
const cancel = '\x18'

// drawing returns h.standing. The first call starts it, without the lines that watchers have already read.
func (h *host) drawing() *standing {
	if h.standing != nil {
		return h.standing
	}
	h.standing = &standing{}
	_ = h.telling.Close() // tells what it held back
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
	} else if text.Sequence.Inside() { // its end was held back as the beginning of a secret, and is never told
		h.tellText([]byte{cancel})
	}
	return h.standing
}

// leaveScreen takes a line that leaves the screen of a program that draws.
func (h *host) leaveScreen(line string) {
	if h.order.Config.Mode == Headless {
		return
	}
	s := h.drawing()
	if line = strings.TrimRight(h.hide(line), " "); s.fresh(line) {
		s.left = append(s.left, line)
	}
}

// look tells watchers the lines that are still on the screen since the last look. It reports whether another look may find more.
func (h *host) look() (more bool) {
	s := h.standing
	if s == nil {
		return false
	}
	var lines []string
	now := map[string]bool{}
	for _, line := range h.detector.Lines() {
		line = strings.TrimRight(h.hide(line), " ")
		now[line] = true
		switch {
		case s.before[line]:
			if s.fresh(line) {
				lines = append(lines, line)
			}
		case terminal.Undecorated(line) != "":
			more = true
		}
	}
	s.before = now
	h.tellLines(lines)
	return more
}

// tellLines tells watchers the lines that left the screen, and then more lines.
func (h *host) tellLines(lines []string) {
	lines = append(h.standing.left, lines...)
	h.standing.left = nil
	if len(lines) > 0 {
		h.tellText([]byte(strings.Join(lines, "\n") + "\n"))
	}
}

// standing finds the readable lines of a program that draws: those that stay on its screen from one look
// to the next, and those that leave it at the top, each once for as long as it is remembered.
type standing struct {
	before map[string]bool
	// told and older are the lines that were told; a line that doesn't return for a while is forgotten.
	told, older map[string]bool
	left        []string // the screen, and not yet told
}

// toldLimit is some screens: an interface that redraws all of itself repeats as much.
const toldLimit = 1000

// seen notes a line that was told.
func (s *standing) seen(line string) {
	if s.told == nil || len(s.told) >= toldLimit {
		s.told, s.older = map[string]bool{}, s.told
	}
	s.told[line] = true
}

// fresh reports whether a line must be told, and notes it.
func (s *standing) fresh(line string) bool {
	if terminal.Undecorated(line) == "" {
		return false
	}
	fresh := !s.told[line] && !s.older[line]
	s.seen(line)
	return fresh
}
