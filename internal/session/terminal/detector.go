// Package terminal owns what a terminal makes of the bytes a program prints: the
// emulated screen, escape sequences, modes and keys, and the markers by which an
// agent says there that its work is complete or can't be done. It refuses to
// know sessions: it reads bytes and holds no process.
package terminal

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind is what an agent can say of its work.
type Kind string

const (
	Complete Kind = "complete"
	Error    Kind = "error"
	// Progress is no last word: the agent tells where it is.
	Progress Kind = "progress"
)

// Word is what the agent said.
type Word struct {
	Kind Kind
	// Message is what it said of it, as printed; empty when it said nothing more.
	Message string
}

// Marker is the line by which an agent says that its work on an issue is complete, or cannot be done.
func Marker(kind Kind, issue int) string {
	return fmt.Sprintf("%s%s_%d###", MarkerStart, strings.ToUpper(string(kind)), issue)
}

// MarkerStart is common to all markers: lines without it are not looked at closer.
const MarkerStart = "###TASK_"

var lastWords = [...]Kind{Complete, Error}

// DetectorConfig is what a Detector knows before anything was printed.
type DetectorConfig struct {
	Issue int
	// Prompt is what the agent was given: its echo is not the agent's.
	Prompt string
	// Code is as in Config.
	Code string
	// Rows and Columns are the terminal's; none are a pipe's, where nothing wraps a line.
	Rows, Columns int
	// Say is told each kind of word, when the agent says it first.
	Say func(Word)
	// Left, which may be nil, is told of the lines that leave the screen of a program that draws.
	Left func(line string)
}

// Detector finds an agent's markers in what it prints. A marker counts as the agent's own words:
// on a line of its own as a terminal would show it, for this issue, outside of quotations, code
// blocks and what hangs on a branch, and not where the prompt or what a person typed is echoed. It
// decides by what was printed and never by how that was cut into pieces.
//
// An interface draws what a tool printed, a file of the repository for one, and the agent's words
// alike. There a marker counts with the session's code behind it, which nobody else was told.
// Whoever can draw indents as it likes, so indented code is looked for only where there is no code.
//
// A program that prints line by line is believed at a line's end. One that moves about on the
// screen may be in the middle of a line wherever it leaves the cursor: it is believed when the
// line left the screen at the top, or stood there from one Settle to the next.
type Detector struct {
	markers map[Kind]string
	screen  *Screen
	prompt  string // as compact
	code    string
	context passage
	say     func(Word)
	gone    func(line string)
	said    map[Kind]bool
	typed   []byte
	// echoes are the typed markers whose echo was not seen yet.
	echoes map[Kind]int
	// standing are the words that the last Settle saw.
	standing []Word
	// awaited is an error whose message is the next line; settled, that a Settle has seen it.
	awaited *Word
	settled bool
}

// DefaultRows is a terminal's of which nothing is known.
const DefaultRows = 24

// NewDetector makes a Detector for one session.
func NewDetector(c DetectorConfig) *Detector {
	if c.Rows == 0 {
		c.Rows = DefaultRows
	}
	d := &Detector{prompt: compact(c.Prompt), code: c.Code, say: c.Say, gone: c.Left, markers: map[Kind]string{}, said: map[Kind]bool{},
		echoes: map[Kind]int{}, screen: NewScreen(c.Rows, c.Columns)}
	for _, kind := range lastWords {
		d.markers[kind] = Marker(kind, c.Issue)
	}
	d.screen.ended, d.screen.left = d.ended, d.left
	return d
}

// Write takes what was printed. It returns no error.
func (d *Detector) Write(p []byte) (int, error) {
	d.screen.Write(p)
	return len(p), nil
}

// Resize tells the size of the terminal from here on.
func (d *Detector) Resize(rows, columns int) { d.screen.Resize(rows, columns) }

// Drawn reports whether the program moves about on the screen.
func (d *Detector) Drawn() bool { return d.screen.Drawn }

// typedLimit bounds what is remembered of typed text: a marker is found in it although it comes key by key.
const typedLimit = 256

// Typed tells what somebody else than the agent typed: its echo is not the agent's.
func (d *Detector) Typed(p []byte) {
	for _, b := range p {
		if d.typed = append(d.typed, b); len(d.typed) > typedLimit {
			d.typed = append(d.typed[:0], d.typed[typedLimit/2:]...)
		}
		for kind, marker := range d.markers {
			if b == '#' && strings.HasSuffix(string(d.typed), marker) {
				d.echoes[kind]++
			}
		}
	}
}

// Settle tells that some time has passed, a second or so. It reports whether it wants to be told again.
func (d *Detector) Settle() (more bool) {
	before := d.standing
	d.standing = d.visible()
	for _, word := range d.standing {
		if slices.Contains(before, word) {
			d.tell(word)
		}
		more = more || !d.said[word.Kind]
	}
	if d.awaited != nil {
		if d.settled {
			d.answerAwaited()
		}
		d.settled = d.awaited != nil
	}
	return more || d.settled
}

// Close tells that nothing more will be printed.
func (d *Detector) Close() {
	d.answerAwaited()
	for _, word := range d.visible() {
		d.tell(word)
	}
}

func (d *Detector) tell(word Word) {
	if !d.said[word.Kind] {
		d.said[word.Kind] = true
		d.say(word)
	}
}

// answerAwaited takes the cursor's line for the message of an error.
func (d *Detector) answerAwaited() {
	if d.awaited != nil {
		word := *d.awaited
		d.awaited, d.settled = nil, false
		word.Message = Undecorated(d.line(d.screen.y).text)
		d.tell(word)
	}
}

// ended looks at the line that a line feed in row y ends.
func (d *Detector) ended(y int) {
	if d.screen.Drawn {
		return
	}
	d.answerAwaited()
	if !slices.Contains(d.screen.rows[y].cells, '#') && (y == 0 || !d.screen.rows[y-1].wrapped) {
		return
	}
	at := d.line(y)
	if !strings.Contains(at.text, MarkerStart) {
		return
	}
	context := d.context.clone()
	for y := 0; y < at.first; {
		above := d.line(y)
		context.pass([]byte(above.text))
		y = above.next
	}
	word, ok := d.judge(context, at.text)
	switch {
	case !ok:
	case d.echoes[word.Kind] > 0:
		d.echoes[word.Kind]--
		d.screen.rows[at.first].echo = true
	case word.Kind == Error && word.Message == "":
		d.awaited = &word
	default:
		d.tell(word)
	}
}

// left takes a row that leaves the screen into the context of those below.
func (d *Detector) left(r row) {
	d.context.carry = r.appendTo(d.context.carry)
	if r.wrapped && len(d.context.carry) < maxLine {
		return
	}
	text := d.context.carry
	d.context.carry = d.context.carry[:0]
	if d.screen.Drawn && !r.echo && bytes.Contains(text, []byte(MarkerStart)) {
		if word, ok := d.judge(d.context, string(text)); ok && d.echoes[word.Kind] > 0 {
			d.echoes[word.Kind]--
		} else if ok {
			d.tell(word)
		}
	}
	if d.screen.Drawn && d.gone != nil {
		d.gone(string(text))
	}
	d.context.pass(text)
}

// Lines are what stands on the screen.
func (d *Detector) Lines() (lines []string) {
	for y := 0; y < len(d.screen.rows); {
		at := d.line(y)
		lines = append(lines, at.text)
		y = at.next
	}
	return lines
}

// visible are the words on the screen that were not decided when their line ended.
func (d *Detector) visible() (words []Word) {
	context, echoes := d.context.clone(), maps.Clone(d.echoes)
	for y := 0; y < len(d.screen.rows); {
		at := d.line(y)
		undecided := d.screen.Drawn && !d.screen.rows[at.first].echo || d.screen.y < at.next && at.first <= d.screen.y
		if word, ok := d.judge(context, at.text); ok && undecided {
			if word.Kind == Error && word.Message == "" && at.next < len(d.screen.rows) {
				word.Message = Undecorated(d.line(at.next).text)
			}
			if echoes[word.Kind]--; echoes[word.Kind] < 0 {
				words = append(words, word)
			}
		}
		context.pass([]byte(at.text))
		y = at.next
	}
	return words
}
