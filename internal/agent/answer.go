package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxAnswer is how many bytes of an answer's end are kept. A plan of a hundred steps is under 100 KiB. The end counts, because models think aloud
// before they answer.
const MaxAnswer = 1 << 20

var (
	// ErrNoJSON: nothing in the answer begins like a JSON object. The caller may ask the agent again, in the same conversation.
	ErrNoJSON = errors.New("the answer holds no JSON object")
	// ErrBrokenJSON: the answer's JSON object is cut off, invalid, or larger than MaxAnswer. The error's text says where, for the agent to correct it.
	ErrBrokenJSON = errors.New("the answer's JSON object is broken")
)

// JSON returns the answer's JSON object: the whole answer, or else its last block fenced as ```json, or else its last object that is not inside
// another. If that one is broken, JSON takes no other: an example from the prompt must not pass for the answer. The caller checks the object's
// fields and that no key occurs twice.
func JSON(answer string) ([]byte, error) {
	if len(answer) > MaxAnswer {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrBrokenJSON, len(answer), MaxAnswer)
	}
	text := bytes.TrimSpace([]byte(answer))
	if object(text) == nil {
		return text, nil
	}
	// Otherwise take the last ```json block. No line of JSON begins with a fence, so the next such line ends the block.
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
	found := bytes.TrimSpace(block)
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

// object returns why text is not one JSON object.
func object(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		return errors.New("it does not begin with {")
	}
	var raw json.RawMessage
	return json.Unmarshal(text, &raw)
}

// lastObject returns the last part of text that begins like a JSON object, up to its closing brace or, without one, to the end. A brace begins one if a
// quote follows, because prose and code have braces too. An object without keys is no answer of any role.
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

// objectLength returns the position after the brace that closes the object at the start of text, ignoring braces in strings. It doesn't check the
// syntax: what it cuts out is decoded later.
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
