package hosted

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/redact"
)

// Limits of texts that are sent. GitHub takes 65,536 characters; the others take more.
const (
	maxBody  = 60_000
	maxTitle = 200
	// maxKey is how long a key may be to be readable in a marker.
	maxKey = 150
)

// mark is an HTML comment that no page shows. It is the first line of a text that we write, so that nothing that the text quotes can take its place.
func mark(what, key string) string {
	key = strings.ReplaceAll(url.QueryEscape(key), "--", "-%2D")
	if len(key) > maxKey {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:])
	}
	return "<!-- signalbox:" + what + "=" + key + " -->"
}

var anyMark = lazy.Expression{Text: `^<!-- signalbox:[a-z]+=[\w.~%+-]+ -->\r?\n?`}

// unmarked returns a text without our marker.
func unmarked(text string) string { return text[len(anyMark.Regexp().FindString(text)):] }

// marked returns a text to send: with its marker, defused and cut to what the forge takes.
func marked(mark, text string) string {
	text = forge.Defused(text)
	if len(text) > maxBody {
		text = redact.Cut(text, maxBody-len(cutNote)) + cutNote
	}
	return mark + "\n" + text
}

// cutNote ends a text of which a part is missing.
const cutNote = "\n\n(too long for the forge: the rest is left out)\n"

// dataMark is a part of a text for programs: a JSON object that no page shows, and that can't end the HTML comment around it.
func dataMark(data string) string {
	return "<!-- signalbox:data " + strings.NewReplacer("--", `-\u002d`, ">", `\u003e`, "\n", " ").Replace(data) + " -->"
}

// heading returns a title to send.
func heading(text string) string { return forge.Defused(redact.Line(text, maxTitle)) }
