package terminal

import (
	"slices"
	"strconv"
	"strings"
)

// LeaveKey finds the key that leaves in typed text. Programs can have terminals send keys as sequences
// (kitty's protocol, xterm's modifyOtherKeys); the key may come as one of these.
type LeaveKey struct {
	Key byte
	// Held may be the beginning of such a sequence.
	Held []byte
}

// heldLimit is longer than any key's sequence.
const heldLimit = 40

// Take returns what to type; left: then the key came.
func (l *LeaveKey) Take(p []byte) (typed []byte, left bool) {
	for _, b := range p {
		switch {
		case b == l.Key:
			return append(typed, l.Rest()...), true
		case b == '\x1b':
			typed = append(typed, l.Rest()...)
			l.Held = append(l.Held, b)
		case len(l.Held) == 0:
			typed = append(typed, b)
		default:
			l.Held = append(l.Held, b)
			switch {
			case l.leaves():
				l.Held = l.Held[:0]
				return typed, true
			case len(l.Held) == 2 && b == '[', len(l.Held) > 2 && len(l.Held) < heldLimit && strings.IndexByte("0123456789:;", b) >= 0:
			default:
				typed = append(typed, l.Rest()...)
			}
		}
	}
	return typed, false
}

// Rest returns the held bytes, which turned out to be something else.
func (l *LeaveKey) Rest() []byte {
	held := slices.Clone(l.Held)
	l.Held = l.Held[:0]
	return held
}

// leaves reports whether the held sequence is the key, pressed with Ctrl alone: ESC [ 92;5u, also with
// kitty's further parameters, or ESC [ 27;5;92~.
func (l *LeaveKey) leaves() bool {
	if len(l.Held) < 3 {
		return false
	}
	final := l.Held[len(l.Held)-1]
	parameters := strings.Split(string(l.Held[2:len(l.Held)-1]), ";")
	var code, modifiers string
	switch {
	case final == 'u' && len(parameters) >= 2:
		event := ""
		code = parameters[0]
		if modifiers, event, _ = strings.Cut(parameters[1], ":"); event == keyReleased {
			return false
		}
	case final == '~' && len(parameters) == 3 && parameters[0] == "27":
		code, modifiers = parameters[2], parameters[1]
	default:
		return false
	}
	code, _, _ = strings.Cut(code, ":")
	key, keyErr := strconv.Atoi(code)
	pressed, err := strconv.Atoi(modifiers)
	const ctrl, locks = 4, 64 | 128 // locks do not count
	return keyErr == nil && err == nil && (pressed-1)&^locks == ctrl && (key == int(l.Key)|0x40 || l.Key < 0x1b && key == int(l.Key)|0x60)
}

const keyReleased = "3"
