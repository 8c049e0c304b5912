package terminal

import "github.com/charmbracelet/x/ansi/parser"

// maxParameters limits the numbers of one sequence; more are dropped.
const maxParameters, maxParameter = 16, 1 << 16

// sequence is the escape sequence being read. It skips the texts inside sequences (titles, links,
// pictures).
type sequence struct {
	state                parser.State
	prefix, intermediate byte
	parameters           []int // missing where a sequence leaves one out
	// control and escape are called with the last byte of a whole sequence; nil for callers that don't need it.
	control, escape func(final byte)
}

const missing = -1

// Inside reports whether a sequence has begun.
func (q *sequence) Inside() bool { return q.state != parser.GroundState }

func (q *sequence) clear() {
	q.prefix, q.intermediate, q.parameters = 0, 0, q.parameters[:0]
}

// drop forgets what has begun.
func (q *sequence) drop() {
	q.state = parser.GroundState
	q.clear()
}

// advance takes one byte. In a text, bytes above 0x7f are parts of characters in UTF-8, although one of
// them, 0x9c, once ended the text.
func (q *sequence) advance(b byte) {
	switch q.state {
	case parser.OscStringState, parser.DcsStringState, parser.SosStringState, parser.PmStringState, parser.ApcStringState:
		if b >= 0x80 {
			return
		}
	}
	state, action := parser.Table.Transition(q.state, b)
	if q.state != state && q.state == parser.EscapeState || b == '\x1b' {
		q.clear()
	}
	switch action {
	case parser.ClearAction:
		q.clear()
	case parser.PrefixAction:
		q.prefix = b
	case parser.CollectAction:
		q.intermediate = b
	case parser.ParamAction:
		if len(q.parameters) == 0 {
			q.parameters = append(q.parameters, missing)
		}
		last := &q.parameters[len(q.parameters)-1]
		switch {
		case '0' <= b && b <= '9':
			*last = min(max(*last, 0)*10+int(b-'0'), maxParameter)
		case len(q.parameters) < maxParameters:
			q.parameters = append(q.parameters, missing)
		}
	case parser.DispatchAction:
		if q.control != nil {
			switch q.state {
			case parser.CsiEntryState, parser.CsiParamState, parser.CsiIntermediateState:
				q.control(b)
			case parser.EscapeState, parser.EscapeIntermediateState:
				q.escape(b)
			}
		}
	}
	q.state = state
}

// number returns a parameter, or otherwise if the sequence leaves it out.
func (q *sequence) number(i, otherwise int) int {
	if i >= len(q.parameters) || q.parameters[i] == missing {
		return otherwise
	}
	return q.parameters[i]
}
