package modeltest

import (
	"iter"
	"net"
	"net/http"
)

// answer sends an answer, changed by its fault.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, x *Exchange, spoken dialect, a answer, fault Fault) {
	streamed := x.Conversation.Stream
	if _, isError := statuses[fault.Kind]; isError && (!fault.InStream || !streamed) {
		refusal := spoken.refuse(s.failed(fault, a.model), w.Header())
		s.reply(w, x, refusal.status, refusal.body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	body := encoded(spoken.whole(a))
	chunks := func(yield func([]byte) bool) {
		half := len(body) / 2
		_ = yield(body[:half]) && yield(body[half:])
	}
	if streamed {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-cache")
		chunks = func(yield func([]byte) bool) {
			sent := 0
			for e := range spoken.events(a) {
				if fault.InStream && sent == fault.Events {
					yield(spoken.refuse(s.failed(fault, a.model), http.Header{}).event.encode())
					return
				}
				if !yield(e.encode()) {
					return
				}
				sent++
			}
		}
	}
	w.WriteHeader(http.StatusOK)
	x.Status = http.StatusOK
	x.End = s.send(w, r, chunks, fault)
	s.note(x)
	if x.End == Broken && fault.Kind == Cut {
		// End the connection so that the agent's next read is an error.
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := connection.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = connection.Close()
	}
}

func (e event) encode() []byte {
	if e.bare {
		return encoded(e.data)
	}
	var text []byte
	if e.name != "" {
		text = append(text, "event: "+e.name+"\n"...)
	}
	text = append(text, "data: "...)
	if literal, ok := e.data.(string); ok {
		text = append(text, literal...)
	} else {
		text = append(text, encoded(e.data)...)
	}
	return append(text, "\n\n"...)
}

// send writes the chunks, each at once, until the fault stops it.
func (s *Server) send(w http.ResponseWriter, r *http.Request, chunks iter.Seq[[]byte], fault Fault) End {
	flush := http.NewResponseController(w).Flush
	if flush() != nil {
		return Gone
	}
	sent := 0
	for chunk := range chunks {
		if sent == fault.Events {
			switch fault.Kind {
			case Stalled:
				<-r.Context().Done()
				return Gone
			case Cut, Ended:
				return Broken
			case Malformed:
				chunk = append(chunk[:len(chunk)*2/3:len(chunk)*2/3], "\n\n"...)
			}
		}
		if fault.Kind == Slow && s.config.Pause(r.Context(), fault.Delay) != nil {
			return Gone
		}
		if _, err := w.Write(chunk); err != nil || flush() != nil {
			return Gone
		}
		sent++
	}
	return Answered
}
