package gateway

import "bytes"

// maxDocument is how much of one event or answer is buffered for reading, in bytes. The largest that vendors send, the last event of a long
// response, repeats all of it in a few hundred KiB.
const maxDocument = 8 << 20

// splitter splits an answer into its documents as the bytes arrive.
type splitter interface {
	write(p []byte)
	// finish: the answer has ended.
	finish()
}

// document buffers one document. each gets it or, if it is too large, only its size.
type document struct {
	data []byte
	size int
	each func(data []byte, size int)
}

func (d *document) add(p []byte) {
	d.size += len(p)
	if d.size <= maxDocument {
		d.data = append(d.data, p...)
	}
}

// end passes on the document, and begins the next one.
func (d *document) end() {
	switch {
	case d.size > maxDocument:
		d.each(nil, d.size)
		d.data = nil
	case d.size > 0:
		d.each(d.data, d.size)
	}
	d.data, d.size = d.data[:0], 0
}

// events are server-sent events. Lines without a field name count as data: one vendor reports an error that way.
type events struct {
	document
	// line is the unfinished line; long: it exceeds what is buffered.
	line []byte
	long int
}

func (e *events) write(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			e.keep(p)
			return
		}
		if len(e.line) == 0 && e.long == 0 {
			e.take(p[:i])
		} else {
			e.keep(p[:i])
			e.endLine()
		}
		p = p[i+1:]
	}
}

func (e *events) keep(p []byte) {
	if e.long > 0 || len(e.line)+len(p) > maxDocument {
		e.long += len(p)
		return
	}
	e.line = append(e.line, p...)
}

func (e *events) endLine() {
	e.take(e.line)
	e.size += e.long
	e.line, e.long = e.line[:0], 0
}

// take reads one whole line. An empty one ends the event.
func (e *events) take(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		e.end()
		return
	}
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		e.add(bytes.TrimPrefix(data, []byte(" ")))
		return
	}
	for _, field := range [][]byte{[]byte("event:"), []byte("id:"), []byte("retry:"), []byte(":")} {
		if bytes.HasPrefix(line, field) {
			return
		}
	}
	e.add(line)
}

func (e *events) finish() {
	e.endLine()
	e.end()
}

// objects is a JSON object, or an array whose elements may arrive one by one.
type objects struct {
	document
	depth           int
	quoted, escaped bool
}

func (o *objects) write(p []byte) {
	start := 0 // start of the current object's bytes not added yet
	for i, c := range p {
		switch {
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped, o.quoted = c == '\\', c != '"'
		case c == '"':
			o.quoted = o.depth > 0
		case c == '{' || c == '[' && o.depth > 0:
			if o.depth == 0 {
				start = i
			}
			o.depth++
		case (c == '}' || c == ']') && o.depth > 0:
			o.depth--
			if o.depth == 0 {
				o.add(p[start : i+1])
				o.end()
			}
		}
	}
	if o.depth > 0 {
		o.add(p[start:])
	}
}

// finish: only the size of an unfinished object counts.
func (o *objects) finish() {
	if o.size > 0 {
		o.each(nil, o.size)
	}
}
