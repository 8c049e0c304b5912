package change

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"signalbox/internal/redact"
)

// Parser reads a patch as git writes it, line by line as it comes. Whatever it is given, it keeps within its limits.
type Parser struct {
	// Name makes a file's name fit to show, after git's quotes are undone; nil only cleans it.
	Name func(string) string

	limits Limits
	files  []File
	more   bool
	lines  int
	kept   int // lines of the present file
	read   int
	rest   []byte
	// inHunk: lines are content, and old and new are the next numbers. literal: they are git's form of a binary file.
	inHunk, literal bool
	old, new        int
}

// NewParser returns a Parser that keeps no more than limits.
func NewParser(limits Limits) *Parser { return &Parser{limits: limits} }

// maxLine is how much of a line is kept, in bytes: a line of minified code may be the whole file.
const maxLine = 4000

// errLong: the patch is longer than a page reads.
var errLong = errors.New("the patch is too long to read")

// Write reads more of the patch. After errLong, what was read before still counts.
func (p *Parser) Write(data []byte) (int, error) {
	n := len(data)
	if p.read += n; p.read > maxBytes {
		p.more = true
		return 0, errLong
	}
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			if room := maxLine - len(p.rest); room > 0 {
				p.rest = append(p.rest, data[:min(len(data), room+1)]...)
			}
			return n, nil
		}
		line := data[:i]
		if len(p.rest) > 0 {
			p.rest = append(p.rest, line...)
			line = p.rest
		}
		p.line(redact.Cut(string(line), maxLine))
		p.rest, data = p.rest[:0], data[i+1:]
	}
}

// Files returns the files read so far, and whether there are more.
func (p *Parser) Files() ([]File, bool) {
	if len(p.rest) > 0 {
		p.line(redact.Cut(string(p.rest), maxLine))
		p.rest = nil
	}
	return p.files, p.more
}

// line reads one line. Within a hunk, each line of content has a mark in front, so no content can pass for the beginning of a file.
func (p *Parser) line(line string) {
	if names, is := strings.CutPrefix(line, "diff --git "); is {
		p.begin(names)
		return
	}
	if len(p.files) == 0 || p.more {
		return
	}
	f := &p.files[len(p.files)-1]
	switch {
	case strings.HasPrefix(line, "@@ -"):
		p.hunk(f, line)
	case p.literal:
	case p.inHunk:
		p.content(f, line)
	default:
		p.header(f, line)
	}
}

// begin begins a file. Its names come again below, unless only its mode changed or it is empty: then both are the same.
func (p *Parser) begin(names string) {
	p.inHunk, p.literal, p.kept = false, false, 0
	if len(p.files) >= p.limits.Files {
		p.more = true
		return
	}
	f := File{}
	if first, rest, quoted := unquoted(names); quoted {
		f.OldPath = first
		if f.Path = strings.TrimPrefix(rest, " "); strings.HasPrefix(f.Path, `"`) {
			f.Path, _, _ = unquoted(f.Path)
		}
	} else if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' {
		f.OldPath, f.Path = names[:half], names[half+1:]
	} else if i := strings.LastIndex(names, ` "`); i >= 0 {
		f.OldPath = names[:i]
		f.Path, _, _ = unquoted(names[i+1:])
	} else {
		f.OldPath, f.Path = names, names
	}
	f.OldPath, f.Path = p.shown(strings.TrimPrefix(f.OldPath, "a/")), p.shown(strings.TrimPrefix(f.Path, "b/"))
	p.files = append(p.files, f)
}

func (p *Parser) shown(name string) string {
	if p.Name != nil {
		return p.Name(name)
	}
	return redact.Line(name, nameLimit)
}

// named is a name in a header, without the side before it. git ends a name with spaces with a tab.
func (p *Parser) named(name, side string) string {
	if text, _, quoted := unquoted(name); quoted {
		name = text
	}
	return p.shown(strings.TrimPrefix(strings.TrimSuffix(name, "\t"), side))
}

// header reads a line between the beginning of a file and its first hunk.
func (p *Parser) header(f *File, line string) {
	for _, h := range []struct {
		prefix string
		set    func(rest string)
	}{
		{"new file mode ", func(mode string) { f.NewMode = mode }},
		{"deleted file mode ", func(mode string) { f.OldMode = mode }},
		{"old mode ", func(mode string) { f.OldMode = mode }},
		{"new mode ", func(mode string) { f.NewMode = mode }},
		{"rename from ", func(name string) { f.OldPath = p.named(name, "") }},
		{"rename to ", func(name string) { f.Path = p.named(name, "") }},
		{"copy from ", func(name string) { f.OldPath = p.named(name, "") }},
		{"copy to ", func(name string) { f.Path = p.named(name, "") }},
		{"index ", func(ids string) {
			ids, mode, both := strings.Cut(ids, " ")
			f.OldID, f.NewID, _ = strings.Cut(ids, "..")
			if both {
				f.OldMode, f.NewMode = mode, mode
			}
		}},
		{"--- ", func(name string) {
			if name != "/dev/null" {
				f.OldPath = p.named(name, "a/")
			}
		}},
		{"+++ ", func(name string) {
			if name != "/dev/null" {
				f.Path = p.named(name, "b/")
			}
		}},
		{"Binary files ", func(string) { f.Binary = true }},
		{"GIT binary patch", func(string) { f.Binary, p.literal = true, true }},
	} {
		if rest, is := strings.CutPrefix(line, h.prefix); is {
			h.set(rest)
			return
		}
	}
}

// hunk begins a hunk: "@@ -1,2 +1,3 @@ section".
func (p *Parser) hunk(f *File, line string) {
	ranges, section, whole := strings.Cut(strings.TrimPrefix(line, "@@ -"), " @@")
	before, after, both := strings.Cut(ranges, " +")
	if !whole || !both || p.literal {
		return
	}
	p.inHunk, p.old, p.new = true, firstOf(before), firstOf(after)
	f.Hunks = append(f.Hunks, Hunk{Section: strings.TrimSpace(section)})
}

// firstOf is the first number of "12,3". A text that is no number counts as line 1; it is only shown.
func firstOf(lines string) int {
	first, _, _ := strings.Cut(lines, ",")
	if n, err := strconv.Atoi(first); err == nil && n >= 0 && n < 1<<30 {
		return n
	}
	return 1
}

func (p *Parser) content(f *File, line string) {
	hunk := &f.Hunks[len(f.Hunks)-1]
	mark := byte(Same) // git may leave out the mark of an empty line
	if line != "" {
		mark, line = line[0], line[1:]
	}
	l := Line{Kind: Kind(mark), Text: line}
	switch l.Kind {
	case Same:
		l.Old, l.New = p.old, p.new
		p.old, p.new = p.old+1, p.new+1
	case Removed:
		l.Old = p.old
		p.old, f.Deleted = p.old+1, f.Deleted+1
	case Added:
		l.New = p.new
		p.new, f.Added = p.new+1, f.Added+1
	case '\\':
		if n := len(hunk.Lines); n > 0 && !f.Cut {
			hunk.Lines[n-1].NoEnd = true
		}
		return
	default:
		p.inHunk = false
		return
	}
	if f.Cut || p.lines >= p.limits.Lines || p.kept >= p.limits.FileLines || p.limits.Only != "" && f.Path != p.limits.Only {
		f.Cut = true
		return
	}
	p.lines, p.kept = p.lines+1, p.kept+1
	hunk.Lines = append(hunk.Lines, l)
}

// unquoted undoes git's quotes around a name with unusual bytes, and returns the rest behind them. quoted is false if there are none.
func unquoted(s string) (name, rest string, quoted bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c != '\\' || i+1 == len(s):
			b.WriteByte(c)
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3':
			n, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				b.WriteByte(c)
				continue
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			i++
			if at := strings.IndexByte(`abtnvfr`, s[i]); at >= 0 {
				b.WriteByte("\a\b\t\n\v\f\r"[at])
			} else {
				b.WriteByte(s[i])
			}
		}
	}
	return s, "", false
}
