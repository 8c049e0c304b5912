package hosted

import (
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// leads is the one attribute that is kept.
var leads = lazy.Expression{Text: `(?i)\s((?:href|src)\s*=\s*(?:"[^"\s]*"|'[^'\s]*'|[^\s"'>]+))`}

// known are elements that pages show. Those that aren't are left out by pages, with their names, which may be any words.
var known = strings.Fields("a abbr audio b bdo blockquote br center cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q " +
	"rp rt ruby s samp small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr")

// concealed are elements of which pages show no content either, if they end. The first two needn't end.
var concealed = []string{"script", "style", "iframe", "noembed", "noframes", "noscript", "object", "template"}

// maxUnclosed is how many brackets in a paragraph may begin no image. Then the rest of it is left out, since each costs a look at the whole.
const maxUnclosed = 30

// definitions are the addresses of a text's links by their labels.
func definitions(text string) map[string]string {
	links := map[string]string{}
	for at := 0; at < len(text); {
		label, to, _ := definitionIn(text[at:])
		if label = labelOf(label); label != "" && links[label] == "" {
			links[label] = strings.Trim(to, "<>")
		}
		line, _, _ := strings.Cut(text[at:], "\n")
		at += len(line) + 1
	}
	return links
}

// What may be between the parts of a definition or a link, also in a quotation.
const blank, blanks = " \t>", " \t\r\n>"

// definitionIn returns what a line defines that a text begins with: where a link leads that is used elsewhere. Its length is 0 if it defines nothing.
func definitionIn(text string) (label, to string, n int) {
	rest := text[len(prefix.Regexp().FindString(text[:min(len(text), 100)])):]
	if !strings.HasPrefix(rest, "[") {
		return "", "", 0
	}
	end := closingIn(rest[:min(len(rest), maxLabel)], ']')
	if end < 0 || !strings.HasPrefix(rest[end+1:], ":") {
		return "", "", 0
	}
	label, rest = rest[1:end], strings.TrimLeft(rest[end+2:], blanks)
	to = destinationIn(rest)
	if to == "" {
		return "", "", 0
	}
	rest = rest[len(to):]
	if title := strings.TrimLeft(rest, blanks); len(title) < len(rest) {
		if end := closingIn(title, closers[title[:min(len(title), 1)]]); end > 0 && endsLine(title[end+1:]) {
			rest = title[end+1:]
		}
	}
	if !endsLine(rest) {
		return "", "", 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	return label, to, len(text) - len(rest) + len(line)
}

func endsLine(text string) bool {
	text = strings.TrimLeft(text, " \t\r")
	return text == "" || text[0] == '\n'
}

// closers end titles, by how they begin.
var closers = map[string]byte{`"`: '"', "'": '\'', "(": ')'}

// closingIn is where what begins a text is closed; -1 if it isn't.
func closingIn(text string, closing byte) int {
	for at := 1; at < len(text) && closing != 0; at++ {
		switch text[at] {
		case '\\':
			at++
		case closing:
			return at
		case '[', '(':
			if text[at] == text[0] {
				return -1
			}
		}
	}
	return -1
}

// destinationIn is the address that a text begins with.
func destinationIn(text string) string {
	if strings.HasPrefix(text, "<") {
		end := strings.IndexAny(text, ">\n")
		if end < 0 || text[end] == '\n' {
			return ""
		}
		return text[:end+1]
	}
	if end := strings.IndexAny(text, " \t\r\n"); end >= 0 {
		return text[:end]
	}
	return text
}

// maxLabel is how long the label of a link can be.
const maxLabel = 1001

func labelOf(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// seen returns what a page shows of prose: no definitions and labels of links, whose addresses follow their first text; no titles of links; no texts
// that stand for images; and of HTML neither attributes nor what pages leave out.
func (v *viewer) seen(text string) string {
	p := prose{text: text, raw: v.raw, links: v.links, missing: map[string]bool{}}
	for p.at < len(text) {
		p.step()
	}
	return p.shown.String()
}

type prose struct {
	text  string
	at    int
	raw   []int
	html  bool
	links map[string]string
	shown strings.Builder
	// lower is the text in small letters, once it is needed.
	lower string
	// missing has what ends nothing any more.
	missing map[string]bool
	// opened is after the last bracket that was shown. unclosed counts brackets that began no image.
	opened, unclosed int
	// space is where the last address that was looked at ends: others within it end there, too.
	space int
}

// show keeps the next bytes, and leave leaves them out.
func (p *prose) show(n int)  { p.shown.WriteString(p.text[p.at : p.at+n]); p.at += n }
func (p *prose) leave(n int) { p.at += n }

func (p *prose) step() {
	for len(p.raw) > 0 && p.raw[0] <= p.at {
		p.raw, p.html = p.raw[1:], !p.html
	}
	rest := p.text[p.at:]
	if p.at == 0 || p.text[p.at-1] == '\n' {
		if _, _, n := definitionIn(rest); n > 0 {
			p.leave(n)
			return
		}
	}
	two := rest[:min(2, len(rest))]
	switch {
	case two[0] == '\\' && !p.html && len(two) > 1 && two[1] < 0x80 && two[1] != '\n':
		p.show(2)
	case two[0] == '`' && !p.html:
		p.show(codeIn(rest))
	case two[0] == '<':
		p.element(rest)
	case two == "![":
		p.image(rest)
	case two[0] == '[':
		p.show(1)
		p.opened = p.shown.Len()
	case two[0] == ']' && p.opened > 0:
		p.link(rest)
	case two[0] == '\n':
		p.show(1)
	default:
		next := strings.IndexAny(rest[1:], "\n\\`<![]")
		p.show(1 + max(next, 0))
		if next < 0 {
			p.show(len(p.text) - p.at)
		}
	}
}

// codeIn is how long the code is that a line begins with, or the backticks alone. A bar may end a cell of a table, and the code with it.
func codeIn(rest string) int {
	ticks := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	line, _, _ := strings.Cut(rest[len(ticks):], "\n")
	for end := 0; ; {
		next := strings.Index(line[end:], ticks)
		if next < 0 {
			return len(ticks)
		}
		end += next
		after := strings.TrimLeft(line[end:], "`")
		if len(line)-end-len(after) == len(ticks) {
			if strings.Contains(line[:end], "|") {
				return len(ticks)
			}
			return len(ticks)*2 + end
		}
		end = len(line) - len(after)
	}
}

// element shows a tag without its attributes.
func (p *prose) element(rest string) {
	for _, between := range [][2]string{{"<?", "?>"}, {"<![CDATA[", "]]>"}, {"<!", ">"}} {
		if strings.HasPrefix(rest, between[0]) && !strings.HasPrefix(rest, "<!--") && !p.missing[between[1]] {
			if _, after, ends := strings.Cut(rest, between[1]); ends {
				p.leave(len(rest) - len(after))
				return
			}
			p.missing[between[1]] = true // and is from here on
		}
	}
	if two := rest[:min(2, len(rest))]; p.html && (two == "<?" || two == "<!") {
		p.leave(endOfTag(rest))
		return
	}
	name, attributes, n := tagIn(rest)
	if p.html && name != "" {
		n = endOfTag(rest)
		attributes = rest[:n]
	}
	if n == 0 {
		p.show(1)
		return
	}
	slash := rest[1:2]
	if slash != "/" {
		slash = ""
	}
	p.leave(n)
	switch {
	case slices.Contains(known, name):
		p.shown.WriteString("<" + slash + name)
		if to := leads.Regexp().FindStringSubmatch(attributes); to != nil && slash == "" {
			p.shown.WriteString(" " + to[1])
		}
		p.shown.WriteString(">")
	case slices.Contains(concealed, name) && slash == "":
		if p.lower == "" {
			small := []byte(p.text)
			for i, c := range small {
				if 'A' <= c && c <= 'Z' {
					small[i] = c | 0x20
				}
			}
			p.lower = string(small)
		}
		if p.missing[name] {
			return
		}
		if end := strings.Index(p.lower[p.at:], "</"+name); end >= 0 {
			p.leave(end)
		} else if p.missing[name] = true; slices.Index(concealed, name) < 2 {
			p.leave(len(p.text) - p.at)
		}
	}
}

// tagIn returns the name and the attributes of a tag within a sentence that a text begins with. Its length is 0 if a page shows it as it is.
func tagIn(text string) (name, attributes string, n int) {
	rest := strings.TrimPrefix(text[1:], "/")
	end := strings.IndexFunc(rest, func(r rune) bool { return !letter(r) && r != '-' && (r < '0' || r > '9') })
	if end < 1 || !letter(rune(rest[0])) {
		return "", "", 0
	}
	name, rest = strings.ToLower(rest[:end]), rest[end:]
	all := rest
	for {
		next := strings.TrimLeft(rest, " \t\r\n")
		if ends := strings.TrimPrefix(next, "/"); strings.HasPrefix(ends, ">") {
			return name, all[:len(all)-len(next)], len(text) - len(ends) + 1
		}
		end := strings.IndexAny(next, " \t\r\n\"'=<>/`")
		if end < 1 || len(next) == len(rest) {
			return name, "", 0
		}
		if rest = next[end:]; !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "=") {
			continue
		}
		value := strings.TrimLeft(strings.TrimLeft(rest, " \t\r\n")[1:], " \t\r\n")
		end = strings.IndexAny(value, " \t\r\n\"'=<>`")
		if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") {
			if end = strings.Index(value[1:], value[:1]) + 2; end < 2 {
				return name, "", 0
			}
		}
		if end < 1 {
			return name, "", 0
		}
		rest = value[end:]
	}
}

func letter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// endOfTag is where a browser ends a tag: at a bracket that is in no attribute's quotes, or with the text.
func endOfTag(text string) int {
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '>':
			return at + 1
		case '=':
			value := strings.TrimLeft(text[at+1:], " \t\r\n")
			if value == "" || value[0] != '"' && value[0] != '\'' {
				continue
			}
			_, after, ends := strings.Cut(value[1:], value[:1])
			if !ends {
				return len(text)
			}
			at = len(text) - len(after) - 1
		}
	}
	return len(text)
}

// image leaves out the text that stands for an image: up to a bracket that closes it and has an address or a label behind.
func (p *prose) image(rest string) {
	if p.unclosed > maxUnclosed {
		p.leave(len(paragraphOf(rest)))
		return
	}
	depth := 0
	for at := 0; at < len(rest); at++ {
		switch rest[at] {
		case '\\':
			at++
		case '[':
			depth++
		case ']':
			if depth--; depth <= 0 && at+1 < len(rest) && (rest[at+1] == '(' || rest[at+1] == '[') {
				p.show(2)
				p.opened = p.shown.Len()
				p.leave(at - 2)
				return
			}
			if depth != 0 || at > maxLabel {
				continue
			}
			if label := labelOf(rest[2:at]); p.links[label] != "" {
				p.show(2)
				p.opened = p.shown.Len()
				p.leave(at - 2)
				p.shown.WriteString("](" + p.links[label] + ")")
				p.leave(1)
				return
			}
		case '\n':
			if line, _, _ := strings.Cut(rest[at+1:], "\n"); strings.TrimSpace(line) == "" {
				at = len(rest)
			}
		}
	}
	p.unclosed++
	p.show(2)
	p.opened = p.shown.Len()
}

// link shows the end of what may be a link: its address without a title or, the first time, instead of a label.
func (p *prose) link(rest string) {
	text := p.shown.String()[p.opened:]
	if strings.HasPrefix(rest, "](") {
		inside := strings.TrimLeft(rest[2:], blanks)
		begin := len(p.text) - len(inside)
		if p.space < begin {
			n := len(destinationIn(inside))
			if n == 0 { // none up to the end of the line, wherever it is looked for
				line, _, _ := strings.Cut(inside, "\n")
				n = len(line)
			}
			p.space = begin + n
		}
		to, title := p.text[begin:p.space], strings.TrimLeft(p.text[p.space:], blanks)
		end := closingIn(title, closers[title[:min(len(title), 1)]])
		p.show(2)
		if end > 0 && strings.HasPrefix(strings.TrimLeft(title[end+1:], blanks), ")") && (strings.HasPrefix(to, "<") || strings.Count(to, ")") <= strings.Count(to, "(")) {
			p.shown.WriteString(to)
			p.leave(len(rest) - 2 - len(title) + end + 1)
		}
		return
	}
	label, n := text, 1
	if strings.HasPrefix(rest, "][") {
		if inside, _, ends := strings.Cut(rest[2:min(len(rest), maxLabel)], "]"); ends {
			if n = len("][]") + len(inside); strings.TrimSpace(inside) != "" {
				label = inside
			}
		}
	}
	p.opened = 0
	to, defined := p.links[labelOf(label)]
	if !defined {
		p.show(1)
		return
	}
	p.shown.WriteString("]")
	if p.leave(n); to != "" {
		p.shown.WriteString("(" + to + ")")
		p.links[labelOf(label)] = ""
	}
}
