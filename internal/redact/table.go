package redact

import (
	"encoding/binary"
	"strings"
)

// named is a secret with the name of its variable.
type named struct{ name, value string }

// form is one way to write a value.
type form struct {
	text string
	of   named
	// cut: the scanner also finds the part of it that a limit left.
	cut bool
}

// table is what a Redactor searches for. It never changes.
type table struct {
	named []named
	// forms are the values in all their forms, by their first byte.
	forms [256][]form
	// rests are the ends of forms that a limit may have left, by their first byte.
	rests [256][]rest
	// patterns are the well-known kinds, by the first byte of their prefix.
	patterns [256][]*pattern
	// starts decides by the first bytes where a secret may start; most text starts none.
	starts starts
}

func newTable(secrets []named) *table {
	t := &table{named: secrets}
	for i := range patterns {
		p := &patterns[i]
		t.patterns[p.prefix[0]] = append(t.patterns[p.prefix[0]], p)
		t.starts.add(p.prefix)
		if first := strings.ToUpper(p.prefix)[0]; p.fold && first != p.prefix[0] {
			t.patterns[first] = append(t.patterns[first], p)
			t.starts.addFolded(p.prefix)
		}
	}
	known := map[string]bool{}
	for _, secret := range secrets {
		cut := map[string]bool{}
		// A limit may cut the value as it is, and as JSON and Go quote it. A part of an ordinary word or a path is no secret.
		if tellsItself(secret.value) && len(secret.value) > cutLength {
			cut[secret.value], cut[quoted(secret.value, false)], cut[quoted(secret.value, true)] = true, true, true
		}
		for _, text := range forms(secret.value) {
			if known[text] {
				continue
			}
			known[text] = true
			t.forms[text[0]] = append(t.forms[text[0]], form{text, secret, cut[text]})
			t.starts.add(text)
			for from := 1; cut[text] && from <= len(text)-cutLength; from++ {
				t.rests[text[from]] = append(t.rests[text[from]], rest{text[from:], len(text)})
			}
		}
	}
	t.starts.add(ellipsis)
	return t
}

// startLength is how many bytes decide that no secret starts.
const startLength = 4

// starts is a set of beginnings. It keeps only their hashes, so it may hold more than was added.
type starts [1 << startBits / 64]uint64

// The set stays within the fastest memory of a processor.
const startBits = 17

func hashed(start uint32) uint32 { return start * 0x9e3779b1 >> (32 - startBits) }

// add adds everything that begins like text, which has at least three bytes.
func (s *starts) add(text string) {
	start := append([]byte(text[:min(len(text), startLength)]), 0)[:startLength]
	for next := range 256 {
		if len(text) < startLength {
			start[startLength-1] = byte(next)
		}
		h := hashed(binary.LittleEndian.Uint32(start))
		s[h/64] |= 1 << (h % 64)
		if len(text) >= startLength {
			return
		}
	}
}

// addFolded adds text in every case of its letters.
func (s *starts) addFolded(text string) {
	upper := strings.ToUpper(text)
	for capitals := range 1 << startLength {
		letters := []byte(text[:startLength])
		for i := range letters {
			if capitals>>i&1 == 1 {
				letters[i] = upper[i]
			}
		}
		s.add(string(letters))
	}
}

func (s *starts) has(start uint32) bool {
	h := hashed(start)
	return s[h/64]>>(h%64)&1 != 0
}

// before returns how many bytes there are before the first that may start something, or before the last few.
func (s *starts) before(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 5 { // eight bytes are five starts
		next := binary.LittleEndian.Uint64(text[i:])
		switch {
		case s.has(uint32(next)):
			return i
		case s.has(uint32(next >> 8)):
			return i + 1
		case s.has(uint32(next >> 16)):
			return i + 2
		case s.has(uint32(next >> 24)):
			return i + 3
		case s.has(uint32(next >> 32)):
			return i + 4
		}
	}
	for ; i+startLength <= len(text); i++ {
		if s.has(binary.LittleEndian.Uint32(text[i:])) {
			break
		}
	}
	return i
}
