package terminal

import (
	"bytes"
	"slices"
	"strings"
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
	bare := Undecorated(string(text))
	if bare == "" {
		p.last = 0
	}
	if !p.passFence(bare) {
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
			return Undecorated(string(rest)) != "" // or it is a frame's edge
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
