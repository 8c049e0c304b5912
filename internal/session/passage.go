package session

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// passage is what of the text above a line decides how the line is meant.
type passage struct {
	// carry is the part of a wrapped line that left the screen already.
	carry []byte
	// history is the end of the text, trimmed when it gets long.
	history []byte
	trimmed bool
	fence   string // what opened the code block we are in; empty outside
	quoted  bool   // in a paragraph that a ">" began
	open    bool   // a quotation mark is open in this paragraph
	block   bool   // in a code block that is only indented
	branch  bool   // below a branch, indented like what hangs on it
	// last is the width of the line above in characters, 0 if nothing is in it.
	last int
}

const historyLimit = 8192

func (p *passage) clone() passage {
	other := *p
	other.history = slices.Clone(p.history)
	return other
}

// meaningful are the bytes by which a line can begin or end a quotation or a code block: the last
// is the first of a typographic quotation mark.
var meaningful = [256]bool{'>': true, '"': true, '`': true, '~': true, 0xe2: true}

// pass goes on by one line.
func (p *passage) pass(text []byte) {
	p.history = append(append(p.history, text...), '\n')
	if len(p.history) > historyLimit {
		p.history = append(p.history[:0], p.history[len(p.history)-historyLimit/2:]...)
		p.trimmed = true
	}
	above := p.last
	p.last = 0
	blank, plain := true, true
	for _, b := range text {
		blank = blank && b == ' '
		plain = plain && !meaningful[b]
	}
	if !blank {
		p.last = utf8.RuneCount(text)
		p.block = (p.block || above == 0) && indent(text) >= codeIndent
		p.branch = branches(text) || p.branch && margin(text) >= codeIndent
	}
	if plain && !blank {
		return
	}
	bare := undecorated(string(text))
	if bare == "" {
		p.last = 0
	}
	if !p.passFence(bare) {
		p.passQuotation(bare)
	}
}

// codeIndent is how far a text without fences indents its code, behind an empty line; programs
// indent what hangs on a branch as far.
const codeIndent = 4

// margin is how many columns are blank before a line.
func margin(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " ")) }

// indent is how many are blank between a line and its frame or bullet, if it has one.
func indent(text []byte) int {
	rest := bytes.TrimLeft(text, " ")
	if len(rest) == 0 || rest[0] < utf8.RuneSelf {
		return len(text) - len(rest)
	}
	return margin(bytes.TrimLeftFunc(rest, decorates))
}

// branches reports whether a line hangs on another one, by the corner that programs draw before
// what a tool printed.
func branches(text []byte) bool {
	rest := bytes.TrimLeft(text, " ")
	if len(rest) == 0 || rest[0] < utf8.RuneSelf {
		return false
	}
	for _, r := range string(rest) {
		switch {
		case strings.ContainsRune("⎿└├╰╚╠┗┣", r):
			return undecorated(string(rest)) != "" // or it is a frame's edge
		case r != ' ' && !decorates(r):
			return false
		}
	}
	return false
}

// hidden reports whether a line that says a marker shows it, rather than says it.
func (p *passage) hidden(text string, code bool) bool {
	line := []byte(text)
	return p.fence != "" || p.quoted || p.open || branches(line) || p.branch && margin(line) >= codeIndent ||
		!code && (p.block || p.last == 0) && indent(line) >= codeIndent
}

func (p *passage) passQuotation(bare string) {
	switch {
	case bare == "":
		p.quoted, p.open = false, false
	case bare[0] == '>':
		p.quoted = true
	}
	for _, r := range bare {
		switch r {
		case '"':
			p.open = !p.open
		case '“':
			p.open = true
		case '”':
			p.open = false
		}
	}
}

// passFence reports whether the line belongs to a code block, its fences included.
func (p *passage) passFence(bare string) bool {
	fence := fenceOf(bare)
	if p.fence == "" {
		p.fence = fence
		return fence != ""
	}
	if strings.HasPrefix(fence, p.fence) && strings.TrimSpace(bare[len(fence):]) == "" {
		p.fence, p.quoted, p.open = "", false, false
	}
	return true
}

// fenceOf is the run of characters by which a line opens or closes a code block.
func fenceOf(bare string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(bare, c)
		if n := len(bare) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			return bare[:n]
		}
	}
	return ""
}

// line is a line as the program meant it, from row first to before row next.
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

// above is the context of the line that begins in row y.
func (d *Detector) above(y int) passage {
	context := d.context.clone()
	for at := 0; at < y; {
		l := d.line(at)
		context.pass([]byte(l.text))
		at = l.next
	}
	return context
}

// judge reports the word that a line says.
func (d *Detector) judge(above passage, text string) (Word, bool) {
	if !strings.Contains(text, markerStart) {
		return Word{}, false
	}
	bare := undecorated(text)
	for kind, marker := range d.markers {
		message, found := strings.CutPrefix(bare, marker)
		if found && d.code != "" {
			message, found = strings.CutPrefix(message, " "+d.code)
			found = found && (message == "" || strings.ContainsAny(message[:1], ": "))
		}
		if !found || kind == Complete && message != "" {
			continue
		}
		if above.hidden(text, d.code != "") || d.continues(above.last, marker) || d.echoed(above, marker) {
			return Word{}, false
		}
		return Word{Kind: kind, Message: strings.TrimLeft(message, ": ")}, true
	}
	return Word{}, false
}

// continues reports whether a program that breaks lines itself may have broken a sentence before the marker.
func (d *Detector) continues(last int, marker string) bool {
	return d.screen.drawn && last > 0 && last+1+len(marker) > d.screen.width()
}

const (
	// echoContext is how many letters before a marker tell that it is the prompt's, and
	// echoEnough how many do at least.
	echoContext, echoEnough = 48, 12
	// greeting bounds what a program prints before it echoes a prompt that begins with a marker.
	greeting = 200
)

// echoed reports whether the marker stands behind what it stands behind in the prompt.
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

// compact leaves the letters and digits of a text: what is the same however it is wrapped and decorated.
func compact(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// undecorated is a line without the space, the frame and the bullet that programs put around text.
func undecorated(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || decorates(r) })
}

func decorates(r rune) bool {
	return 0x2500 <= r && r <= 0x259f || r == '●' || r == '•' || r == '⏺' || r == '⎿'
}

// mayMark reports whether the row can be part of a marker's line.
func (r *row) mayMark() bool { return slices.Contains(r.cells, '#') }

// appendTo appends the row's text, without what is blank at its end unless the line goes on.
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
