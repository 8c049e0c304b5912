package environment

import (
	"slices"
	"strings"
)

// lookBack is how many lines of the end are read. The longest report between a cause and the end has 30
// lines (Gradle's); anything further up belongs to an earlier problem that the tool overcame. Indented
// lines are read but not counted: most are stack frames or a list of options, and there may be hundreds.
const lookBack = 40

// reasonLength is the longest reason, in runes.
const reasonLength = 300

// line is one line of a tool's output, without colors and the tool's framing. Its text is never empty.
type line struct{ text string }

// linesOf returns the lines of the end of an output. A carriage return ends a line too, because the text
// after it overwrites a progress bar.
func linesOf(output string) (lines []line) {
	all := strings.FieldsFunc(escape().ReplaceAllString(output, ""), func(r rune) bool { return r == '\n' || r == '\r' })
	counted := 0
	for _, text := range slices.Backward(all) {
		if counted == lookBack {
			break
		}
		text = frame().ReplaceAllString(text, "")
		if text != "" && !strings.ContainsRune(" \t[", rune(text[0])) {
			counted++
		}
		if text = strings.TrimSpace(strings.TrimLeft(text, " \t>│├└╰─▶×")); text != "" {
			lines = append(lines, line{text})
		}
	}
	slices.Reverse(lines)
	return lines
}

// weight is how much a line says about the failure.
type weight int

const (
	cause       weight = iota // why the tool gave up
	consequence               // the effect of a cause, which may be further up
	inPassing                 // a tool that continues: a warning, an attempt before another one, a wait
)

// verdict is the meaning of a line, or of a whole output, for the failure.
type verdict struct {
	class  string // empty if the line says nothing about a failure
	weight weight
	// note tells people and models how to read the line, if its words mislead. It follows the line in the
	// reason.
	note string
}

// means returns the meaning of a line: by the first message that it matches, then by an HTTP status in
// it, then by a network error.
func (l line) means() verdict {
	var v verdict
	matches := func(m message) bool { return m.pattern().MatchString(l.text) }
	if i := slices.IndexFunc(messages(), matches); i >= 0 {
		v = messages()[i].verdict
	} else if class := statusClass(l.text); class != "" {
		v.class = class
	} else if i := slices.IndexFunc(unreached(), matches); i >= 0 {
		v = unreached()[i].verdict
	}
	if passing().MatchString(l.text) && !exhausted().MatchString(l.text) {
		v.weight = inPassing
	}
	return v
}

// short returns the line, cut in the middle if it is longer than reasonLength: the end usually says more
// than the middle.
func (l line) short() string {
	text := strings.TrimSpace(surround().ReplaceAllString(l.text, ""))
	runes := []rune(text)
	if len(runes) <= reasonLength {
		return text
	}
	const head = reasonLength / 3
	return string(runes[:head]) + " … " + string(runes[len(runes)-(reasonLength-head):])
}
