package session

import (
	"strings"

	"signalbox/internal/session/terminal"
)

// standing finds what there is to read of a program that draws: the lines that stand on its screen
// from one look to the next, and those that leave it at the top, each once for as long as it is remembered.
type standing struct {
	before map[string]bool
	// told and older are what was told; what is not met again in a while is forgotten.
	told, older map[string]bool
	left        []string // since the last take
}

// toldLimit is some screens: an interface that draws all of itself again repeats as much.
const toldLimit = 1000

// seen notes a line that was told in another way.
func (s *standing) seen(line string) {
	if s.told == nil || len(s.told) >= toldLimit {
		s.told, s.older = map[string]bool{}, s.told
	}
	s.told[line] = true
}

// fresh reports whether a line is to be told, once.
func (s *standing) fresh(line string) bool {
	if terminal.Undecorated(line) == "" {
		return false
	}
	fresh := !s.told[line] && !s.older[line]
	s.seen(line)
	return fresh
}

// leave takes a line that leaves the screen.
func (s *standing) leave(line string) {
	if line = strings.TrimRight(line, " "); s.fresh(line) {
		s.left = append(s.left, line)
	}
}

// take returns the lines that left.
func (s *standing) take() []string {
	left := s.left
	s.left = nil
	return left
}

// look returns what stands on the screen since the last look, and whether more may be found by another one.
func (s *standing) look(screen []string) (lines []string, more bool) {
	now := map[string]bool{}
	for _, line := range screen {
		line = strings.TrimRight(line, " ")
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
	return lines, more
}
