package hosted

import (
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/redact"
)

// orderLine is a comment's first line that is meant for us.
var orderLine = lazy.Expression{Text: `(?i)^/signalbox(?:[ \t]+(.*))?$`}

// isOrder reports whether a comment is meant for us.
func isOrder(body string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	return orderLine.Regexp().MatchString(strings.TrimSpace(first))
}

// Limits of an order's text.
const (
	maxOrderText  = 4000
	maxOrderShown = 60
)

// commitID is a commit as a person names it.
var commitID = lazy.Expression{Text: `^[0-9a-f]{7,64}$`}

// ParseOrder reads a comment's order. It is none unless the first line begins with /signalbox; one with a Problem is refused in these words.
// Text may go on in the lines below.
func ParseOrder(body string) (order forge.Order, isOne bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(redact.Clean(body)), "\n")
	found := orderLine.Regexp().FindStringSubmatch(strings.TrimSpace(first))
	if found == nil {
		return order, false
	}
	verb, argument, _ := strings.Cut(strings.TrimSpace(found[1]), " ")
	argument = strings.TrimSpace(argument)
	order.Verb = forge.Verb(strings.ToLower(verb))
	text := redact.Cut(strings.TrimSpace(visible(argument+"\n"+rest)), maxOrderText)
	switch order.Verb {
	case forge.VerbRun, forge.VerbStop, forge.VerbRetry, forge.VerbResume, forge.VerbStatus:
		if argument != "" {
			order.Problem = string(order.Verb) + " takes nothing after it"
		}
	case forge.VerbApprove:
		order.Commit = strings.ToLower(strings.Trim(argument, "`"))
		if order.Commit != "" && !commitID.Regexp().MatchString(order.Commit) {
			order.Commit, order.Problem = "", "approve takes a commit's id with at least 7 digits, or nothing"
		}
	case forge.VerbReject, forge.VerbAnswer:
		if order.Text = text; text == "" {
			order.Problem = string(order.Verb) + " needs a text"
		}
	default:
		order.Problem = "there is no such order"
		if verb != "" {
			order.Problem = "there is no order `" + strings.ReplaceAll(redact.Line(verb, maxOrderShown), "`", "") + "`"
		}
		order.Verb = ""
	}
	return order, true
}
