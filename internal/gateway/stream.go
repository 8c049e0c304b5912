package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"signalbox/internal/agent"
)

// errAgentGone: the agent does not take its answer.
var errAgentGone = errors.New("the agent is gone")

// errHalf: a stream ended normally but without its last events.
var errHalf = errors.New("the answer lacks its end")

// chunk is the largest part of an answer that is passed on at once, in bytes.
const chunk = 32 << 10

// follow streams a model's answer and counts it.
func (x *exchange) follow(ctx context.Context, w http.ResponseWriter, r *http.Request, body io.Reader, isEvents bool) error {
	known := &reading{unreported: true}
	d := document{each: func(data []byte, size int) {
		if data == nil {
			known.text += int64(size)
			return
		}
		x.route.dialect.read(data, known)
	}}
	documents := splitter(&objects{document: d})
	if isEvents {
		documents = &events{document: d}
	}
	err := x.pass(ctx, w, body, func(p []byte) error {
		documents.write(p)
		return x.session.count(x, known, 0)
	})
	documents.finish()
	_ = x.session.count(x, known, known.estimateRest(x)) // a session that is cut now has its reason
	// The answer began well. Judge it by how it ended.
	s := x.session
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
	case known.problem != nil:
		s.recordFailure(s.judge(known.problem, http.Header{}))
	case known.closed, known.whole && err == nil:
		s.mu.Lock()
		s.trouble, s.failed, s.objected = nil, 0, 0
		s.mu.Unlock()
	case r.Context().Err() != nil, errors.Is(err, errAgentGone):
	case err != nil:
		x.lost(ctx, "broke off", err)
	default:
		s.recordFailure(verdict{agent.Fail(agent.Unreachable, "%s ended its answer too early", s.server()), passing})
	}
	if err == nil && isEvents && !known.whole && known.problem == nil {
		return errHalf // after a tool, Gemini CLI would take it for the complete answer
	}
	return err
}

// pass returns nil when everything was passed on. Time that the agent takes does not count as the vendor's silence.
func (x *exchange) pass(ctx context.Context, w http.ResponseWriter, body io.Reader, read func([]byte) error) error {
	buffer := make([]byte, chunk)
	scrub := scrubber{key: []byte(x.session.config.Key)}
	if x.control.Flush() != nil {
		return errAgentGone
	}
	for {
		n, err := body.Read(buffer)
		x.silence.Stop()
		if e := context.Cause(ctx); e != nil {
			return e
		}
		if n > 0 {
			now := x.session.gateway.config.Clock()
			x.session.mu.Lock()
			x.session.used.Last = now
			if x.session.used.First.IsZero() {
				x.session.used.First = now
			}
			x.session.mu.Unlock()
			if e := read(buffer[:n]); e != nil {
				return e
			}
		}
		out := scrub.pass(buffer[:n])
		if errors.Is(err, io.EOF) {
			out = append(out, scrub.held...)
		}
		if _, e := w.Write(out); e != nil || x.control.Flush() != nil {
			return errAgentGone
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		x.silence.Reset(x.session.gateway.config.Idle)
	}
}

// scrubber replaces the API key in passing data: a server named by a person may echo what it was sent. It holds back only bytes that may begin the
// key.
type scrubber struct {
	key []byte
	// held are the bytes held back. At the end of the data they turn out to be no key.
	held []byte
}

var masked = []byte("[key]")

// pass returns the bytes of p, and those held back before, that may go on. The result is valid until the next call.
func (s *scrubber) pass(p []byte) []byte {
	if len(s.key) == 0 {
		return p
	}
	if len(s.held) > 0 {
		p = append(s.held, p...)
	}
	if bytes.Contains(p, s.key) {
		p = bytes.ReplaceAll(p, s.key, masked)
	}
	keep := min(len(s.key)-1, len(p)) // bytes at the end that may begin the key
	for keep > 0 && !bytes.HasSuffix(p, s.key[:keep]) {
		keep--
	}
	s.held = bytes.Clone(p[len(p)-keep:])
	return p[:len(p)-keep]
}
