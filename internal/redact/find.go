package redact

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// Found is a secret in a text.
type Found struct {
	// Name is the variable whose value was found; Kind describes any other find: "a GitHub token".
	Name, Kind string
	// Character is the first of a kind that Concealed found: "U+202E".
	Character string
	// Line is the number of the line where it begins, from 1; Text is that line.
	Line int
	Text string
}

// findLimit is how many finds are reported per text.
const findLimit = 100

// Find returns the secrets in text in order, each known value and well-known kind once per line. It is for content that people keep: String also
// hides values that may be an ordinary word or a path, and placeholders that are common in documentation (a header's value, a password in a URL).
func (r *Redactor) Find(text []byte) []Found {
	var v view
	v.split(text, true)
	found := r.findIn(v.seen)
	if len(v.seen) == len(text) {
		return found
	}
	for _, f := range r.findIn(text) { // secrets that begin in an escape sequence or in binary files
		same := func(g Found) bool { return g.Name == f.Name && g.Kind == f.Kind && g.Line == f.Line }
		if !slices.ContainsFunc(found, same) {
			found = append(found, f)
		}
	}
	return found
}

func (r *Redactor) findIn(text []byte) (all []Found) {
	s := r.newScanner()
	counted, line := 0, 1
	s.found = func(of named, kind string, at int) {
		if kind == "" && !tellsItself(of.value) || len(all) == findLimit {
			return
		}
		line += bytes.Count(text[counted:at], newline)
		counted = at
		f := Found{Name: of.name, Kind: kind, Line: line, Text: lineAround(text, at)}
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	s.scan(make([]byte, 0, len(text)), text, len(text), true)
	return all
}

var newline = []byte("\n")

// lineAround returns the line of text around the byte at an offset.
func lineAround(text []byte, at int) string {
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	end := bytes.IndexByte(text[at:], '\n')
	if end < 0 {
		return string(text[begin:])
	}
	return string(text[begin : at+end])
}

const (
	// Shorter values, and lowercase values shorter than passphraseLength, may occur by chance.
	tellingLength    = 8
	passphraseLength = 20
)

// tellsItself reports whether value would hardly occur in a program's text without being the secret. GOOGLE_APPLICATION_CREDENTIALS names a file,
// and TOKEN_HELPER a program.
func tellsItself(value string) bool {
	switch {
	case len(value) < tellingLength, strings.HasPrefix(value, "/"), strings.HasPrefix(value, "~/"), strings.HasPrefix(value, "./"):
		return false
	case strings.HasPrefix(value, "https://"), strings.HasPrefix(value, "http://"):
		return strings.ContainsAny(value, "@?") || len(value) >= 2*passphraseLength // an address that grants access, such as a webhook's
	case len(value) >= passphraseLength:
		return true
	}
	ordinary := func(r rune) bool { return unicode.IsLower(r) || r == '-' || r == '_' || r == '.' }
	return strings.ContainsFunc(value, func(r rune) bool { return !ordinary(r) })
}
