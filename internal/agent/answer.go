package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxAnswer is the number of bytes of an answer that are kept, from its end. A
// plan of a hundred steps is under 100 KiB.
const MaxAnswer = 1 << 20

var (
	// ErrNoJSON: there is nothing in the answer that begins like a JSON object.
	ErrNoJSON = errors.New("the answer holds no JSON object")
	// ErrBrokenJSON: there is one, and it is cut off or not valid.
	ErrBrokenJSON = errors.New("the answer's JSON object is broken")
)

// JSON finds the one JSON object that an answer is about: the whole answer, or
// else its last block fenced as ```json, or else its last object that is not
// inside another. When that one is broken no other is taken in its place: an
// example out of the prompt must not pass for the answer. Whether the object
// keeps its contract, and has no key twice, is judged by who decodes it.
func JSON(answer string) ([]byte, error) {
	if len(answer) > MaxAnswer {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrBrokenJSON, len(answer), MaxAnswer)
	}
	text := bytes.TrimSpace([]byte(answer))
	if object(text) == nil {
		return text, nil
	}
	found := fenced(text)
	if found == nil {
		found = lastObject(text)
	}
	if found == nil {
		return nil, ErrNoJSON
	}
	if err := object(found); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBrokenJSON, err)
	}
	return found, nil
}

func object(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		return errors.New("it does not begin with {")
	}
	var raw json.RawMessage
	return json.Unmarshal(text, &raw)
}

// fenced is the content of the last ```json block, nil if there is none. JSON
// has no line that begins with a fence, so the next such line is its end.
func fenced(text []byte) []byte {
	var block []byte
	inside := false
	for line := range bytes.Lines(text) {
		info, fence := strings.CutPrefix(strings.TrimSpace(string(line)), "```")
		switch {
		case fence && !inside && strings.EqualFold(strings.TrimSpace(info), "json"):
			inside, block = true, nil
		case fence:
			inside = false
		case inside:
			block = append(block, line...)
		}
	}
	return bytes.TrimSpace(block)
}

// lastObject is the last part of text that begins like a JSON object, up to
// the brace that closes it, or to the end of text if none does.
func lastObject(text []byte) []byte {
	var last []byte
	for {
		start := bytes.IndexByte(text, '{')
		if start < 0 {
			return last
		}
		text = text[start:]
		length := 1
		if bytes.HasPrefix(bytes.TrimSpace(text[1:]), []byte(`"`)) {
			length = objectLength(text)
			last = text[:length]
		}
		text = text[length:]
	}
}

// objectLength is where the brace that opens text is closed, braces in strings aside.
func objectLength(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
