package terminal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is a line as the program printed it, from row first to before row next.
type line struct {
	text        string
	first, next int
}

// line returns the line that row y is part of.
func (d *Detector) line(y int) line {
	rows := d.screen.rows
	first := y
	for first > 0 && rows[first-1].wrapped {
		first--
	}
	var text []byte
	if first == 0 {
		text = slices.Clone(d.context.carry)
	}
	next := first
	for ; next < len(rows); next++ {
		text = rows[next].appendTo(text)
		if !rows[next].wrapped {
			next++
			break
		}
	}
	return line{text: string(text), first: first, next: next}
}

// judge returns the word that a line says below its context.
func (d *Detector) judge(above passage, text string) (Word, bool) {
	if !strings.Contains(text, MarkerStart) {
		return Word{}, false
	}
	bare := Undecorated(text)
	for kind, marker := range d.markers {
		message, found := strings.CutPrefix(bare, marker)
		if found && d.code != "" {
			message, found = strings.CutPrefix(message, " "+d.code)
			found = found && (message == "" || strings.ContainsAny(message[:1], ": "))
		}
		if !found || kind == Complete && message != "" {
			continue
		}
		if above.hidden(text, d.code != "") || d.screen.Drawn && above.last > 0 && above.last+1+len(marker) > d.screen.width() || d.echoed(above, marker) {
			return Word{}, false
		}
		return Word{Kind: kind, Message: strings.TrimLeft(message, ": ")}, true
	}
	return Word{}, false
}

const (
	// echoContext is how many letters before a marker decide that it is the prompt's, and echoEnough
	// the fewest that do.
	echoContext, echoEnough = 48, 12
	// greeting limits what a program prints before it echoes a prompt that begins with a marker.
	greeting = 200
)

// echoed reports whether the marker follows the same text as in the prompt.
func (d *Detector) echoed(above passage, marker string) bool {
	marker = compact(marker)
	if !strings.Contains(d.prompt, marker) {
		return false
	}
	history := compact(string(above.history) + string(above.carry))
	for at := 0; ; {
		next := strings.Index(d.prompt[at:], marker)
		if next < 0 {
			return false
		}
		at += next
		before := d.prompt[max(0, at-echoContext):at]
		early := !above.trimmed && len(history) <= at+greeting
		if strings.HasSuffix(history, before) && (len(before) >= echoEnough || early) {
			return true
		}
		at += len(marker)
	}
}

// compact returns the letters and digits of a text, which no wrapping and no decoration changes.
func compact(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// Undecorated returns a line without the space, the frame and the bullet that programs put around text.
func Undecorated(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || decorates(r) })
}

func decorates(r rune) bool {
	return 0x2500 <= r && r <= 0x259f || r == '●' || r == '•' || r == '⏺' || r == '⎿'
}

// appendTo appends the row's text, without blanks at its end unless the line continues.
func (r *row) appendTo(text []byte) []byte {
	start := len(text)
	for _, c := range r.cells {
		switch c {
		case 0:
			text = append(text, ' ')
		case spacer:
		default:
			text = utf8.AppendRune(text, c)
		}
	}
	for !r.wrapped && len(text) > start && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	return text
}
