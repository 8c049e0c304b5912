package terminal

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

const (
	// A larger terminal counts as one of maxColumns or maxRows.
	maxColumns, maxRows = 1000, 300
	// maxLine limits a line where nothing wraps it; a longer one is cut.
	maxLine = 8192
)

// row is one row of the terminal. A cell is 0 where nothing was printed, and spacer after a character
// that takes two columns.
type row struct {
	cells []rune
	// wrapped: the terminal broke the line here, and not the program.
	wrapped bool
	// echo: this text was typed, not printed by the agent.
	echo bool
}

const spacer = -1

// Screen is what a terminal of this size would show. It is no emulator: it knows the place of text and
// not its look.
type Screen struct {
	rows    []row
	columns int // 0: nothing wraps, as in a pipe, and a line feed starts a new line
	x, y    int
	// full: the last column was printed, and the next character will wrap.
	full           bool
	top, bottom    int // the rows that scroll
	savedX, savedY int
	main           []row // what the alternate screen hides; nil without one
	sequence       sequence
	partial        []byte // the beginning of a character
	Drawn          bool
	// ended is called for a line feed in a row, before it takes effect; left, for a row that leaves at the top.
	ended func(y int)
	left  func(r row)
}

func NewScreen(rows, columns int) *Screen {
	s := &Screen{ended: func(int) {}, left: func(row) {}}
	s.sequence.drop()
	s.sequence.control, s.sequence.escape = s.control, s.escape
	s.Resize(rows, columns)
	return s
}

// Resize changes the size like a terminal that doesn't wrap its lines again.
func (s *Screen) Resize(rows, columns int) {
	rows, s.columns = min(max(rows, 1), maxRows), min(max(columns, 0), maxColumns)
	for last := len(s.rows) - 1; last >= rows; last-- {
		if s.y == last || len(s.rows[last].cells) > 0 {
			s.scroll(0, last)
			s.y = max(s.y-1, 0)
		}
		s.rows = s.rows[:last]
	}
	for len(s.rows) < rows {
		s.rows = append(s.rows, row{})
	}
	s.top, s.bottom, s.full = 0, rows-1, false
	s.move(s.x, s.y)
}

// width returns the number of columns for text.
func (s *Screen) width() int {
	if s.columns == 0 {
		return maxLine
	}
	return s.columns
}

func (s *Screen) Write(p []byte) {
	for len(p) > 0 {
		switch b := p[0]; {
		case s.sequence.Inside() && b == '\n':
			s.sequence.drop() // nothing may hide more than the rest of its line
		case s.sequence.Inside() || b == '\x1b':
			s.sequence.advance(b)
			p = p[1:]
		case len(s.partial) > 0 && utf8.RuneStart(b): // the character before was cut off
			s.partial = s.partial[:0]
			s.put(utf8.RuneError)
		case len(s.partial) > 0 || b >= utf8.RuneSelf:
			s.partial = append(s.partial, b)
			if utf8.FullRune(s.partial) {
				r, _ := utf8.DecodeRune(s.partial)
				s.partial = s.partial[:0]
				s.put(r)
			}
			p = p[1:]
		case b < ' ' || b == 0x7f:
			switch b {
			case '\n', '\v', '\f':
				s.ended(s.y)
				s.down()
				if s.columns == 0 {
					s.x = 0
				}
			case '\r':
				s.move(0, s.y)
			case '\b':
				s.move(s.x-1, s.y)
			case '\t':
				s.move(s.x/tabWidth*tabWidth+tabWidth, s.y)
			}
			p = p[1:]
		default:
			n := 1
			for n < len(p) && ' ' <= p[n] && p[n] < 0x7f {
				n++
			}
			s.print(p[:n])
			p = p[n:]
		}
	}
}

// print puts printable ASCII.
func (s *Screen) print(text []byte) {
	for len(text) > 0 {
		if s.full && !s.wrap() {
			return
		}
		n := min(len(text), s.width()-s.x)
		cells := s.cells(s.x + n)[s.x:]
		for i, b := range text[:n] {
			cells[i] = rune(b)
		}
		s.advance(n)
		text = text[n:]
	}
}

func (s *Screen) put(r rune) {
	columns := 1
	if r >= 0x300 {
		columns = displaywidth.Rune(r)
	}
	if columns == 0 || s.full && !s.wrap() || s.x+columns > s.width() && !s.wrap() {
		return
	}
	cells := s.cells(s.x + columns)
	cells[s.x] = r
	if columns == 2 {
		cells[s.x+1] = spacer
	}
	s.advance(columns)
}

func (s *Screen) advance(n int) {
	s.x += n
	if s.full = s.x >= s.width(); s.full {
		s.x = s.width() - 1
	}
}

// wrap continues in the next row; false means that there is none, and the text is dropped.
func (s *Screen) wrap() bool {
	if s.columns <= 1 {
		return false
	}
	s.rows[s.y].wrapped = true
	s.x = 0
	s.down()
	return true
}

// cells returns the cells of the cursor's row, at least n.
func (s *Screen) cells(n int) []rune {
	r := &s.rows[s.y]
	if have := len(r.cells); have < n {
		r.cells = slices.Grow(r.cells, n-have)[:n]
		clear(r.cells[have:])
	}
	return r.cells
}

// AppendTo appends what draws the screen's text and cursor on an empty screen.
func (s *Screen) AppendTo(picture []byte) []byte {
	picture = append(picture, "\x1b[H\x1b[2J"...)
	for y := range s.rows {
		if len(s.rows[y].cells) > 0 {
			picture = s.rows[y].appendTo(fmt.Appendf(picture, "\x1b[%dH", y+1))
		}
	}
	return fmt.Appendf(picture, "\x1b[%d;%dH", s.y+1, s.x+1)
}

func (s *Screen) down() {
	s.full = false
	switch {
	case s.y == s.bottom:
		s.scroll(s.top, s.bottom)
	case s.y < len(s.rows)-1:
		s.y++
	}
}

// scroll moves the rows from top to bottom up by one.
func (s *Screen) scroll(top, bottom int) {
	first := s.rows[top]
	if top == 0 {
		s.left(first)
	}
	copy(s.rows[top:bottom], s.rows[top+1:bottom+1])
	s.rows[bottom] = row{cells: first.cells[:0]}
}

func (s *Screen) move(x, y int) {
	s.x, s.y, s.full = min(max(x, 0), s.width()-1), min(max(y, 0), len(s.rows)-1), false
}
