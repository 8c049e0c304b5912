package environment

import (
	"slices"
	"strings"
)

// lookBack is how many lines of the end are read. The longest report between a
// cause and the end has 30 (Gradle's); what stands further up scrolled by and
// belongs to a trouble that was overcome. Indented lines are read and not
// counted: most are the frames of a stack trace or a list of options, and there
// may be hundreds.
const lookBack = 40

// reasonLength is the most of a line, in runes, that is told as the reason.
const reasonLength = 300

// line is one line of a tool's output, without colours and what stands around the words.
type line struct{ text string }

// linesOf returns the lines of the end of an output. A carriage return ends a
// line as well: what follows it is written over progress.
func linesOf(output string) (lines []line) {
	all := strings.FieldsFunc(escape.pattern().ReplaceAllString(output, ""), func(r rune) bool { return r == '\n' || r == '\r' })
	counted := 0
	for _, text := range slices.Backward(all) {
		if counted == lookBack {
			break
		}
		text = frame.pattern().ReplaceAllString(text, "")
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

// weight is how much a line's words say of the failure.
type weight int

const (
	cause       weight = iota // why the tool gave up
	consequence               // what came of a cause, which may stand further up
	inPassing                 // of a tool that goes on: a warning, a try that is followed by another, a wait
)

// verdict is what a line, or a whole output, says of the failure.
type verdict struct {
	class  string
	weight weight
	// note is what people and models have to know when they read the line.
	note string
}

// means says what the line says; no class when it says nothing of a failure.
func (l line) means() verdict {
	v := l.matches()
	if passing.match(l.text) && !exhausted.match(l.text) {
		v.weight = inPassing
	}
	return v
}

func (l line) matches() verdict {
	for _, m := range messages() {
		if m.pattern.match(l.text) {
			return m.verdict
		}
	}
	if class := statusClass(l.text); class != "" {
		return verdict{class: class}
	}
	for _, m := range unreached() {
		if m.pattern.match(l.text) {
			return m.verdict
		}
	}
	return verdict{}
}

// short is what the line tells; of a very long one the beginning and, mostly
// telling more, the end.
func (l line) short() string {
	text := strings.TrimSpace(surround.pattern().ReplaceAllString(l.text, ""))
	runes := []rune(text)
	if len(runes) <= reasonLength {
		return text
	}
	const head = reasonLength / 3
	return string(runes[:head]) + " … " + string(runes[len(runes)-(reasonLength-head):])
}

// lastWords is the last line that reads like an error, else the last line.
func lastWords(lines []line) string {
	for _, l := range slices.Backward(lines) {
		if complaint.match(l.text) && !advice.match(l.text) && !bare.match(l.text) {
			return l.short()
		}
	}
	for _, l := range slices.Backward(lines) {
		if !advice.match(l.text) {
			return l.short()
		}
	}
	return ""
}
