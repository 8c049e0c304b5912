package health

import "strings"

// LeftOut is the line that replaces text removed from the middle of a message.
const LeftOut = "[… left out …]"

// summarized shortens a text to what state.json has room for. It keeps the beginning, which says what failed, and the end, where programs say why.
// If the text was shortened before, there is still only one gap.
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

// wholeLines removes the partial first line of an ending, unless it is longer than most characters.
func wholeLines(end []rune, most int) string {
	part, rest, found := strings.Cut(string(end), "\n")
	if !found || len([]rune(part)) > most {
		return string(end)
	}
	return rest
}
