package store

import (
	"bytes"
	"time"
	"unicode/utf8"

	"signalbox/internal/workflow"
)

// plainStatus reads an issue's status in the form in which it nearly always is:
// names of ours, each once at most, texts without escapes, a time in UTC. It is
// there for listings, and several times faster than decode. Of anything else it
// says that it is not plain, never that it is wrong: that is decode's to judge.
func plainStatus(data []byte) (status workflow.IssueStatus, ok bool) {
	if !utf8.Valid(data) {
		return status, false
	}
	p, seen := plain{data}, member(0)
	for more := p.skip('{'); more; more = p.skip(',') {
		name, ok := p.text()
		if !ok || !p.skip(':') {
			return status, false
		}
		is := p.statusMember(name, &status)
		if is == 0 || seen&is != 0 {
			return status, false
		}
		seen |= is
	}
	return status, seen != 0 && p.skip('}') && p.ended()
}

// member is a bit for each member of an object.
type member uint

// statusMember reads the value of one member; 0 if it is not plain.
func (p *plain) statusMember(name []byte, status *workflow.IssueStatus) member {
	if string(name) == "issue" {
		return 1 * bit(p.number(&status.Issue))
	}
	text, ok := p.text()
	switch string(name) {
	case "status":
		return 2 * bit(ok && plainWord(text, &status.Status))
	case "session":
		status.Session = string(text)
		return 4 * bit(ok)
	case "error_message":
		status.ErrorMessage = string(text)
		return 8 * bit(ok)
	case "timestamp":
		return 16 * bit(ok && plainTime(text, &status.Timestamp))
	}
	return 0
}

func bit(ok bool) member {
	if ok {
		return 1
	}
	return 0
}

// plainWord takes a word that is one of ours already, which saves a copy of each.
func plainWord(text []byte, word *workflow.IssueStatusWord) bool {
	for _, known := range statusWords {
		if string(text) == string(known) {
			*word = known
			return true
		}
	}
	return false
}

func plainTime(text []byte, t *time.Time) bool {
	return len(text) == len("2006-01-02T15:04:05Z") && text[len(text)-1] == 'Z' && t.UnmarshalText(text) == nil
}

// plain is what is left to read of a document. It must be valid UTF-8.
type plain struct{ rest []byte }

func (p *plain) space() {
	for len(p.rest) > 0 && (p.rest[0] == ' ' || p.rest[0] == '\n' || p.rest[0] == '\t' || p.rest[0] == '\r') {
		p.rest = p.rest[1:]
	}
}

func (p *plain) skip(c byte) bool {
	p.space()
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *plain) ended() bool {
	p.space()
	return len(p.rest) == 0
}

func (p *plain) text() ([]byte, bool) {
	if !p.skip('"') {
		return nil, false
	}
	end := bytes.IndexByte(p.rest, '"')
	if end < 0 {
		return nil, false
	}
	text := p.rest[:end]
	for _, c := range text {
		if c < ' ' || c == '\\' {
			return nil, false
		}
	}
	p.rest = p.rest[end+1:]
	return text, true
}

// number reads a whole number of at most nine digits, as an issue's is.
func (p *plain) number(n *int) bool {
	p.space()
	digits := 0
	for ; digits < len(p.rest) && '0' <= p.rest[digits] && p.rest[digits] <= '9'; digits++ {
		*n = *n*10 + int(p.rest[digits]-'0')
	}
	plain := 1 <= digits && digits <= 9 && p.rest[0] != '0'
	p.rest = p.rest[digits:]
	return plain
}
