package gateway

import (
	"compress/gzip"
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
)

// maxProblem is how much of an error is read, in bytes.
const maxProblem = 1 << 20

// answer passes on the vendor's answer.
func (x *exchange) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, response *http.Response) {
	x.silence.Reset(x.session.gateway.config.Idle)
	body := io.Reader(response.Body)
	switch response.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip": // some servers compress even if not asked to
		body = &gunzip{from: response.Body}
	default:
		message := "its answer is in an encoding that was not asked for"
		x.failed(w, r, response, &problem{status: http.StatusBadGateway, message: message}, nil)
		return
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(body, maxProblem)) // half an error is reported as it is
		s := scrubber{key: []byte(x.session.config.Key)}
		text = append(append([]byte(nil), s.pass(text)...), s.held...)
		x.refused = !slices.Contains(proxyTimeouts, response.StatusCode)
		x.failed(w, r, response, problemOf(response.StatusCode, text), text)
		return
	}
	x.session.handBack(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	isEvents := kind == "text/event-stream"
	var err error
	if x.route.answers {
		err = x.follow(ctx, w, r, body, isEvents)
	} else {
		err = x.pass(ctx, w, body, func([]byte) error { return nil })
	}
	if err != nil {
		panic(http.ErrAbortHandler) // half an answer must not look complete
	}
}

// proxyTimeouts are the statuses of a proxy before a vendor's server that stopped waiting. The server itself may still be working, and billing.
var proxyTimeouts = []int{http.StatusGatewayTimeout, 522, 524}

// gunzip starts reading only when it is read, because the first bytes of an answer may take long.
type gunzip struct {
	from io.Reader
	to   *gzip.Reader
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.to == nil {
		if g.to, err = gzip.NewReader(g.from); err != nil {
			return 0, err
		}
	}
	return g.to.Read(p)
}

// failed passes on an error. If it ends the session, the agent is told that instead; otherwise it would wait or retry.
func (x *exchange) failed(w http.ResponseWriter, r *http.Request, response *http.Response, p *problem, text []byte) {
	s := x.session
	v := s.judge(p, response.Header)
	over := x.route.answers && s.recordFailure(v)
	switch {
	case over, text == nil, response.StatusCode < http.StatusBadRequest:
		for _, name := range requestIDs {
			if id := response.Header.Get(name); id != "" {
				w.Header().Set(name, id)
			}
		}
		if over {
			refuseOver(w, x.route.dialect)
			return
		}
		refuse(w, x.route.dialect, http.StatusBadGateway, "Signalbox: "+s.server()+" gave no answer that can be passed on.")
	default:
		s.handBack(w.Header(), response.Header)
		w.WriteHeader(response.StatusCode)
		_, _ = w.Write(text)
	}
}
