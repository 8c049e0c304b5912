package terminal

import "slices"

const tabWidth = 8

// escape obeys a short sequence.
func (s *Screen) escape(final byte) {
	if s.sequence.intermediate != 0 {
		return
	}
	switch final {
	case '7':
		s.savedX, s.savedY = s.x, s.y
	case '8':
		s.Drawn = true
		s.move(s.savedX, s.savedY)
	case 'D':
		s.down()
	case 'E':
		s.ended(s.y)
		s.down()
		s.move(0, s.y)
	case 'M':
		s.Drawn = true
		if s.y == s.top {
			s.insert(1)
		} else {
			s.move(s.x, s.y-1)
		}
	case 'c':
		s.Drawn = true
		s.eraseRows(0, len(s.rows))
		s.move(0, 0)
	}
}

// control obeys a control sequence. Those with another prefix than "?" are about keys and colours.
func (s *Screen) control(final byte) {
	if s.sequence.prefix == '?' {
		s.mode(final)
		return
	}
	if s.sequence.prefix != 0 || s.sequence.intermediate != 0 {
		return
	}
	n := max(s.sequence.number(0, 1), 1)
	if s.goTo(final, n) {
		return
	}
	switch final {
	case 'J':
		switch s.sequence.number(0, 0) {
		case 0: // below
			s.eraseLine(0)
			s.eraseRows(s.y+1, len(s.rows))
		case 1: // above
			s.Drawn = true
			s.eraseRows(0, s.y)
			s.eraseLine(1)
		case 2, 3: // all
			s.Drawn = true
			s.eraseRows(0, len(s.rows))
		}
	case 'K':
		s.eraseLine(s.sequence.number(0, 0))
	case 'X':
		s.blank(s.x, s.x+n)
	case 'P':
		if r := &s.rows[s.y]; s.x < len(r.cells) {
			r.cells = slices.Delete(r.cells, s.x, min(s.x+n, len(r.cells)))
		}
	case '@':
		if r := &s.rows[s.y]; s.x < len(r.cells) {
			r.cells = slices.Insert(r.cells, s.x, make([]rune, min(n, s.width()))...)
			r.cells = r.cells[:min(len(r.cells), s.width())]
		}
	case 'L':
		s.insert(n)
	case 'M':
		s.Drawn = true
		for range min(n, s.bottom-s.y+1) {
			s.scroll(s.y, s.bottom)
		}
	case 'S':
		for range min(n, len(s.rows)) {
			s.scroll(s.top, s.bottom)
		}
	case 'r':
		bottom := s.sequence.number(1, len(s.rows))
		if top := n - 1; top < bottom-1 && bottom <= len(s.rows) {
			s.Drawn, s.top, s.bottom = true, top, bottom-1
			s.move(0, 0)
		}
	}
}

// goTo moves the cursor, if that is what the sequence asks.
func (s *Screen) goTo(final byte, n int) bool {
	x, y := s.x, s.y
	switch final {
	case 'A':
		y -= n
	case 'B', 'e':
		y += n
	case 'C', 'a':
		x += n
	case 'D':
		x -= n
	case 'E':
		x, y = 0, y+n
	case 'F':
		x, y = 0, y-n
	case 'G', '`':
		x = n - 1
	case 'd':
		y = n - 1
	case 'H', 'f':
		x, y = s.sequence.number(1, 1)-1, n-1
	case 'u':
		x, y = s.savedX, s.savedY
	case 's':
		s.savedX, s.savedY = s.x, s.y
	default:
		return false
	}
	s.Drawn = s.Drawn || y != s.y
	s.move(x, y)
	return true
}

// mode switches to the alternate screen and back.
func (s *Screen) mode(final byte) {
	if final != 'h' && final != 'l' {
		return
	}
	for i := range s.sequence.parameters {
		switch s.sequence.number(i, 0) {
		case 47, 1047, 1049:
			s.Drawn = true
			on := final == 'h'
			switch {
			case on && s.main == nil:
				s.main = s.rows
				s.rows = make([]row, len(s.main))
			case !on && s.main != nil:
				for _, r := range s.rows {
					s.left(r)
				}
				rows := len(s.rows)
				s.rows, s.main = s.main, nil
				s.Resize(rows, s.columns)
			}
		}
	}
}

func (s *Screen) eraseRows(from, to int) {
	for y := from; y < to; y++ {
		s.rows[y] = row{cells: s.rows[y].cells[:0]}
	}
}

func (s *Screen) eraseLine(what int) {
	switch what {
	case 0:
		r := &s.rows[s.y]
		r.cells, r.wrapped = r.cells[:min(s.x, len(r.cells))], false
	case 1:
		s.blank(0, s.x+1)
	case 2:
		s.eraseRows(s.y, s.y+1)
	}
}

func (s *Screen) blank(from, to int) {
	cells := s.rows[s.y].cells
	for x := from; x < min(to, len(cells)); x++ {
		cells[x] = 0
	}
}

// insert makes room for n rows at the cursor.
func (s *Screen) insert(n int) {
	s.Drawn = true
	for range min(n, s.bottom-s.y+1) {
		copy(s.rows[s.y+1:s.bottom+1], s.rows[s.y:s.bottom])
		s.rows[s.y] = row{}
	}
}
