package forge

import (
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/redact"
)

// joiner is a character that no one sees. It makes two words of one.
const joiner = "\u2060"

// What acts on a forge although it is only text. The forges look at the text as shown, so what Markdown shows in another form counts too.
var (
	mention = lazy.Expression{Text: `(^|\W)@([\w.&])`}
	// reference is the number of an issue or a merge request, which it would tell of being mentioned; or a character by its number.
	reference = lazy.Expression{Text: `([#!])([\dxX&])`}
	// named are @, # and ! by name.
	named = lazy.Expression{Text: `(?i)&(?:commat|num|excl);?`}
	// closing is what closes or opens an issue that follows it.
	closing = lazy.Expression{Text: `(?i)\b(clos|fix|resolv|implement|reopen)((?:e|es|ed|s|ing)?:?\s+\S*[#!&/\d-])`}
	// order is a line that GitLab, or a bot, obeys.
	order = lazy.Expression{Text: `(?m)^([\s>]*)/([a-zA-Z_]+(?:[ \t]|$))`}
)

// Defused returns untrusted Markdown that mentions no one, closes nothing, gives no order and hides nothing of what follows it.
func Defused(text string) string {
	text = redact.Clean(text)
	text = order.Regexp().ReplaceAllString(text, "${1}"+joiner+"/${2}")
	text = closing.Regexp().ReplaceAllString(text, "${1}"+joiner+"${2}")
	text = named.Regexp().ReplaceAllString(text, "${0}"+joiner)
	text = reference.Regexp().ReplaceAllString(text, "${1}"+joiner+"${2}")
	text = mention.Regexp().ReplaceAllString(text, "${1}@"+joiner+"${2}")
	return strings.ReplaceAll(text, "<!--", "<"+joiner+"!--")
}
