package gateway

import (
	"bytes"
)

const (
	// usualOutput is reserved for a request without a limit of its own; it is as much as agents ask for that set one.
	usualOutput = 32_000
	// leastReserved covers what a vendor adds even to a small request, such as its description of tools.
	leastReserved = 4096
	// A token of text is rarely shorter than 3 bytes or longer than 6.
	shortToken, longToken = 3, 6
	// pictureBytes is the least size of a token of a picture or document. An encoded string counts as one if it is longer than longString.
	pictureBytes, longString = 16, 8 << 10
)

// wants is what a request says about its answer.
type wants struct {
	// output is the most tokens of the answer. hidden: some of them are billed without being seen.
	output int64
	hidden bool
}

// maxChoices is the most parallel answers that a request is believed to ask for.
const maxChoices = 128

// sizes returns the bytes of a request's text and of its encoded data, such as pictures.
func sizes(body []byte) (text, encoded int64) {
	for rest := body; ; {
		open := bytes.IndexByte(rest, '"')
		if open < 0 {
			return int64(len(body)) - encoded, encoded
		}
		rest = rest[open+1:]
		end := closing(rest)
		if s := rest[:end]; len(s) > longString && isEncoded(s[:longString]) {
			encoded += int64(len(s))
		}
		rest = rest[min(end+1, len(rest)):]
	}
}

// closing returns where a JSON string ends.
func closing(s []byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}

// isEncoded reports whether s is base64: no spaces, and no punctuation but these.
func isEncoded(s []byte) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !bytes.ContainsRune([]byte("+/=-_"), rune(c)) {
			return false
		}
	}
	return true
}
