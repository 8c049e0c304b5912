package hosted

import (
	"strings"

	"signalbox/internal/lazy"
)

var (
	// prefix is what a line of a quotation or a list begins with.
	prefix = lazy.Expression{Text: `^(?:[ \t>]|[-*+] |\d{1,9}[.)] )*`}
	// verbatim begins HTML that no empty line ends.
	verbatim = lazy.Expression{Text: `(?i)<(?:pre|script|style|textarea|[?!])`}
)

// visible returns what a page shows of Markdown: no HTML comments, and none of what seen leaves out. An instruction there reaches an agent and no
// person who looks at the issue. Code blocks show all they have. A page may show more than this keeps, but not less: it begins no code where it isn't
// certain that there is some.
func visible(text string) string {
	if !strings.ContainsAny(text, "<[") {
		return text
	}
	v := viewer{rest: text, starts: true, links: definitions(text)}
	for v.rest != "" {
		v.line()
	}
	v.flush()
	return v.shown.String()
}

// viewer reads a text line by line.
type viewer struct {
	rest         string
	shown, prose strings.Builder
	// raw are the places in prose from which a page reads HTML alone, and from which it reads Markdown again, in turn.
	raw []int
	// links are addresses by their labels, until they are shown.
	links map[string]string
	// starts: rest is the beginning of a line, and not what follows a comment.
	starts bool
	// fence ends the block of code that we are in; empty in prose.
	fence string
	// html: HTML began after the last empty line. endless: some began that an empty line doesn't end. comment: this line begins with a comment.
	html, endless, comment bool
	// closed and empty are how much is left after the next end of a comment, and from the next empty line; -1 if there is none.
	closed, empty int
	looked        bool
}

func (v *viewer) flush() {
	v.shown.WriteString(v.seen(v.prose.String()))
	v.prose.Reset()
	v.raw = nil
}

// line reads up to the end of a line or of a comment.
func (v *viewer) line() {
	_, after, _ := strings.Cut(v.rest, "\n")
	line := v.rest[:len(v.rest)-len(after)]
	if v.starts {
		mark := fence.Regexp().FindStringSubmatch(line)
		switch {
		case v.fence != "":
			v.shown.WriteString(line)
			if mark != nil && strings.HasPrefix(mark[1], v.fence) && strings.Trim(line, " \t\r\n"+v.fence[:1]) == "" {
				v.fence = ""
			}
			v.rest = after
			return
		case mark != nil && !v.html && !v.endless && line[0] == mark[1][0] && // one that is indented may end with the item of a list
			(line[0] == '~' || !strings.Contains(line[len(mark[1]):], "`")):
			v.flush()
			v.fence = mark[1]
			v.shown.WriteString(line)
			v.rest = after
			return
		}
		begin := line[len(prefix.Regexp().FindString(line)):]
		v.comment = strings.HasPrefix(begin, "<!--")
		v.html = strings.TrimSpace(line) != "" && (v.html || !v.comment && strings.HasPrefix(begin, "<"))
	}
	at := strings.Index(line, "<!--")
	seen := line[:max(at, 0)]
	if v.starts = at < 0; v.starts {
		seen = line
	}
	v.endless = v.endless || verbatim.Regexp().MatchString(seen)
	if raw := v.html || v.endless; raw != (len(v.raw)%2 == 1) {
		v.raw = append(v.raw, v.prose.Len())
	}
	v.prose.WriteString(seen)
	if v.rest = v.rest[len(seen):]; at >= 0 {
		v.skip()
	}
}

// skip reads the beginning of a comment, and the rest of it if it is one.
func (v *viewer) skip() {
	const opening, closing = "<!--", "-->"
	if !v.looked || v.closed > len(v.rest)-len("<!-->") {
		v.closed = -1
		if _, after, is := strings.Cut(v.rest[len("<!"):], closing); is { // <!--> is a whole one
			v.closed = len(after)
		}
	}
	if !v.looked || v.empty >= len(v.rest) {
		v.empty = len(v.rest) - len(paragraphOf(v.rest))
	}
	v.looked = true
	switch html := v.html || v.endless || v.comment; {
	case v.closed >= 0 && (html || v.closed >= v.empty):
		v.rest = v.rest[len(v.rest)-v.closed:]
	case html: // it hides all that follows
		v.rest = ""
	default: // within a sentence
		v.prose.WriteString(opening)
		v.rest = v.rest[len(opening):]
	}
}

// paragraphOf returns a text up to its first empty line.
func paragraphOf(text string) string {
	for end := 0; end < len(text); {
		line, _, _ := strings.Cut(text[end:], "\n")
		if strings.TrimSpace(line) == "" {
			return text[:end]
		}
		end = min(end+len(line)+1, len(text))
	}
	return text
}
