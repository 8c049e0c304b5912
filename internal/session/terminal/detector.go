// Package terminal owns what a terminal makes of a program's output: the emulated
// screen, escape sequences, modes and keys, and the markers by which an agent says
// that its work is complete or can't be done. It refuses to know sessions: it reads
// bytes and holds no process.
package terminal

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind is what an agent can say about its work.
type Kind string

const (
	Complete Kind = "complete"
	Error    Kind = "error"
	// Progress is not final: the agent reports how far it is.
	Progress Kind = "progress"
)

// Word is a status that the agent gave.
type Word struct {
	Kind Kind
	// Message is the agent's explanation, as printed; empty if it gave none.
	Message string
}

// Marker returns the line by which an agent says that its work on an issue is complete, or can't be done.
func Marker(kind Kind, issue int) string {
	return fmt.Sprintf("%s%s_%d###", MarkerStart, strings.ToUpper(string(kind)), issue)
}

// MarkerStart begins all markers: lines without it need no closer look.
const MarkerStart = "###TASK_"

var lastWords = [...]Kind{Complete, Error}

// DetectorConfig configures a Detector.
type DetectorConfig struct {
	Issue int
	// Prompt is what the agent was given: its echo isn't the agent's word.
	Prompt string
	// Code is as in Config.
	Code string
	// Rows and Columns are the terminal's; without columns it is a pipe, where nothing wraps a line.
	Rows, Columns int
	// Say is called once for each kind of word, when the agent first says it.
	Say func(Word)
	// Left, which may be nil, is called with each line that leaves the screen of a program that draws.
	Left func(line string)
}

// Detector finds an agent's markers in its output. A marker counts if it is the agent's own word: on a
// line of its own as a terminal would show it, for this issue, outside quotations, code blocks and the
// content of a branch, and not an echo of the prompt or of typed text. The result depends on what was
// printed and never on how the output was split into pieces.
//
// An interface draws a tool's output, such as a file of the repository, and the agent's words alike.
// There a marker counts only with the session's code after it, which only the agent knows. An interface
// indents freely, so indented code is recognized only where there is no session code.
//
// In a program that prints line by line, a marker counts at the line's end. A program that draws may
// leave the cursor in the middle of a line: there a marker counts when its line leaves the screen at
// the top, or stays from one Settle to the next.
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
	// echoes counts the typed markers whose echo hasn't come yet.
	echoes map[Kind]int
	// shown are the words that the last Settle saw.
	shown []Word
	// awaited is an error whose message is the next line; settled: a Settle has seen it.
	awaited *Word
	settled bool
}

// DefaultRows is the height of a terminal of unknown size.
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

// Write takes printed output. It returns no error.
func (d *Detector) Write(p []byte) (int, error) {
	d.screen.Write(p)
	return len(p), nil
}

// Resize sets the size of the terminal from here on.
func (d *Detector) Resize(rows, columns int) { d.screen.Resize(rows, columns) }

// Drawn reports whether the program draws: moves the cursor around the screen.
func (d *Detector) Drawn() bool { return d.screen.Drawn }

// typedLimit limits what is remembered of typed text, in which a marker may come key by key.
const typedLimit = 256

// Typed takes text that was typed into the terminal: its echo isn't the agent's word.
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

// Settle marks that some time has passed, a second or so. It reports whether another call may find more.
func (d *Detector) Settle() (more bool) {
	before := d.shown
	d.shown = d.visible()
	for _, word := range d.shown {
		if slices.Contains(before, word) {
			d.report(word)
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

// Close marks the end of the output.
func (d *Detector) Close() {
	d.answerAwaited()
	for _, word := range d.visible() {
		d.report(word)
	}
}

// report says a word, the first of its kind.
func (d *Detector) report(word Word) {
	if !d.said[word.Kind] {
		d.said[word.Kind] = true
		d.say(word)
	}
}

// answerAwaited takes the cursor's line as the message of an awaited error.
func (d *Detector) answerAwaited() {
	if d.awaited != nil {
		word := *d.awaited
		d.awaited, d.settled = nil, false
		word.Message = Undecorated(d.line(d.screen.y).text)
		d.report(word)
	}
}

// ended judges the line that a line feed in row y ends.
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
		d.report(word)
	}
}

// left adds a row that leaves the screen to the context of the rows below.
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
			d.report(word)
		}
	}
	if d.screen.Drawn && d.gone != nil {
		d.gone(string(text))
	}
	d.context.pass(text)
}

// Lines returns the lines on the screen.
func (d *Detector) Lines() (lines []string) {
	for y := 0; y < len(d.screen.rows); {
		at := d.line(y)
		lines = append(lines, at.text)
		y = at.next
	}
	return lines
}

// visible returns the words on the screen that weren't decided when their line ended.
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
