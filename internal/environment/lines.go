package environment

import (
	"slices"
	"strings"
)

// lookBack is how many lines of the end are read. The longest report between a cause and the end has 30 lines (Gradle's); anything further up
// belongs to an earlier problem that was overcome. Indented lines are read but not counted: most are stack frames or a list of options, and there
// may be hundreds.
const lookBack = 40

// reasonLength is the longest reason, in runes.
const reasonLength = 300

// line is one line of a tool's output, without colors and the tool's framing.
type line struct{ text string }

// linesOf returns the lines of the end of an output. A carriage return ends a line too, because what follows it overwrites progress output.
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
	inPassing                 // of a tool that continues: a warning, an attempt before another one, a wait
)

// verdict is what a line or a whole output says about the failure.
type verdict struct {
	class  string
	weight weight
	// note is what people and models have to know when they read the line.
	note string
}

// means returns the meaning of a line; its class is empty if the line says nothing about a failure.
func (l line) means() verdict {
	v := l.matches()
	if passing().MatchString(l.text) && !exhausted().MatchString(l.text) {
		v.weight = inPassing
	}
	return v
}

func (l line) matches() verdict {
	for _, m := range messages() {
		if m.pattern().MatchString(l.text) {
			return m.verdict
		}
	}
	if class := statusClass(l.text); class != "" {
		return verdict{class: class}
	}
	for _, m := range unreached() {
		if m.pattern().MatchString(l.text) {
			return m.verdict
		}
	}
	return verdict{}
}

// short returns the line shortened to its beginning and its end, which usually says more.
func (l line) short() string {
	text := strings.TrimSpace(surround().ReplaceAllString(l.text, ""))
	runes := []rune(text)
	if len(runes) <= reasonLength {
		return text
	}
	const head = reasonLength / 3
	return string(runes[:head]) + " … " + string(runes[len(runes)-(reasonLength-head):])
}

// lastWords returns the last line that reads like an error, or else the last line.
func lastWords(lines []line) string {
	for _, l := range slices.Backward(lines) {
		if complaint().MatchString(l.text) && !advice().MatchString(l.text) && !bare().MatchString(l.text) {
			return l.short()
		}
	}
	for _, l := range slices.Backward(lines) {
		if !advice().MatchString(l.text) {
			return l.short()
		}
	}
	return ""
}
