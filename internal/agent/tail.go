package agent

// tail keeps the last limit bytes written to it. It uses at most twice that memory, so each byte is moved once on average.
type tail struct {
	limit int
	data  []byte
	cut   bool // something before them was dropped
}

func (t *tail) Write(p []byte) (int, error) {
	written := len(p)
	t.cut = t.cut || len(t.data)+written > t.limit
	if written > t.limit {
		p = p[written-t.limit:]
	}
	if len(t.data)+len(p) > 2*t.limit {
		t.data = append(t.data[:0], t.last()...)
	}
	t.data = append(t.data, p...)
	return written, nil
}

// marked returns last as text, beginning with an ellipsis if anything was dropped.
func (t *tail) marked() string {
	text := clean(t.last())
	if t.cut {
		return "…" + text
	}
	return text
}

func (t *tail) last() []byte {
	return t.data[max(0, len(t.data)-t.limit):]
}
