package terminal

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// passage is the part of the text above a line that decides what the line means.
type passage struct {
	// carry is the part of a wrapped line that has already left the screen.
	carry []byte
	// history is the end of the text, trimmed when it gets long.
	history []byte
	trimmed bool
	fence   string // what opened the current code block; empty outside
	quoted  bool   // in a paragraph that a ">" began
	open    bool   // a quotation mark is open in this paragraph
	block   bool   // in a code block without fences, only indented
	branch  bool   // below a branch, indented like its content
	// last is the width of the line above in characters, 0 if it is empty.
	last int
}

const historyLimit = 8192

func (p *passage) clone() passage {
	other := *p
	other.history = slices.Clone(p.history)
	return other
}

// meaningful are the bytes that can begin or end a quotation or a code block: the last one begins a
// typographic quotation mark.
var meaningful = [256]bool{'>': true, '"': true, '`': true, '~': true, 0xe2: true}

// pass moves on by one line.
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

// codeIndent is how far a text without fences indents its code, after an empty line. Programs indent
// the content of a branch as far.
const codeIndent = 4

// margin returns the number of blank columns before a line.
func margin(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " ")) }

// indent returns the number of blank columns between a line and its frame or bullet, if it has one.
func indent(text []byte) int {
	rest := bytes.TrimLeft(text, " ")
	if len(rest) == 0 || rest[0] < utf8.RuneSelf {
		return len(text) - len(rest)
	}
	return margin(bytes.TrimLeftFunc(rest, decorates))
}

// branches reports whether a line belongs to the one above, by the corner that programs draw before a
// tool's output.
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

// hidden reports whether a line only shows a marker, in a quotation or code, rather than says it.
func (p *passage) hidden(text string, code bool) bool {
	line := []byte(text)
	return p.fence != "" || p.quoted || p.open || branches(line) || p.branch && margin(line) >= codeIndent ||
		!code && (p.block || p.last == 0) && indent(line) >= codeIndent
}

// passFence reports whether the line belongs to a code block, fences included.
func (p *passage) passFence(bare string) bool {
	fence := ""
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(bare, c)
		if n := len(bare) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			fence = bare[:n]
		}
	}
	if p.fence == "" {
		p.fence = fence
		return fence != ""
	}
	if strings.HasPrefix(fence, p.fence) && strings.TrimSpace(bare[len(fence):]) == "" {
		p.fence, p.quoted, p.open = "", false, false
	}
	return true
}
