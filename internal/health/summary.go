package health

import "strings"

// LeftOut is the line of a text that stands where something was left out between its beginning and its end.
const LeftOut = "[… left out …]"

// summarized keeps what state.json has room for: the beginning, which says what failed, and the end, where programs say why.
// What was left out before stays one place with what is left out now.
func summarized(text string) string {
	text = strings.TrimSpace(text)
	runes := []rune(text)
	if len(runes) <= maxSummary {
		return text
	}
	const most = maxSummary / 4
	before, _, cut := strings.Cut(text, "\n"+LeftOut+"\n")
	head := []rune(before)
	if !cut || len(head) > most {
		head = runes[:most]
		if i := strings.LastIndexByte(string(head), '\n'); i > 0 {
			head = []rune(string(head)[:i])
		}
	}
	above := string(head) + "\n" + LeftOut + "\n"
	return above + wholeLines(runes[len(runes)-maxSummary+len([]rune(above)):], most)
}

// wholeLines leaves out the part of a line with which an end begins, unless that is much of it: more than most characters.
func wholeLines(end []rune, most int) string {
	part, rest, found := strings.Cut(string(end), "\n")
	if !found || len([]rune(part)) > most {
		return string(end)
	}
	return rest
}
