package modeltest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// maxRequest bounds a request. Contexts of a million tokens are some MiB.
const maxRequest = 64 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/" { // the gateway looks without a key whether anything answers
		http.NotFound(w, r)
		return
	}
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	x := &Exchange{Arrived: s.config.Clock(), Method: r.Method, Path: r.URL.Path, Headers: slices.Sorted(maps.Keys(r.Header)),
		Key: cmp.Or(r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"), bearer)}
	s.ledger.mutex.Lock()
	s.ledger.total++
	x.Number = s.ledger.total
	s.ledger.mutex.Unlock()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	x.Body, x.Size = body[:min(len(body), maxBody)], len(body)
	if err != nil {
		s.object(w, x, http.StatusBadRequest, fmt.Errorf("read request: %w", err))
		return
	}
	for _, route := range routes {
		if route.method == r.Method && route.path.MatchString(r.URL.Path) {
			spoken := dialects[route.api]
			if s.config.Key != "" && x.Key != s.config.Key {
				s.note(x)
				refusal := spoken.refuse(s.failed(Fault{Kind: Unauthorized}, ""), w.Header())
				s.reply(w, x, refusal.status, refusal.body)
				return
			}
			if route.answers == nil {
				s.converse(w, r, x, spoken, body)
				return
			}
			s.note(x)
			s.reply(w, x, http.StatusOK, route.answers(x.Size))
			return
		}
	}
	s.object(w, x, http.StatusNotFound, errors.New("unknown path"))
}

// converse has the script answer a conversation.
func (s *Server) converse(w http.ResponseWriter, r *http.Request, x *Exchange, spoken dialect, body []byte) {
	var err error
	if x.Conversation, err = spoken.read(r, body); err != nil {
		s.object(w, x, http.StatusBadRequest, fmt.Errorf("read conversation: %w", err))
		return
	}
	script := s.config.Choose(x.Conversation)
	// The results so far say which turn it is.
	turn, calls := Say(DefaultText), 0
	for x.Turn = 0; x.Turn < len(script.Turns); x.Turn++ {
		t := script.Turns[x.Turn]
		if calls += len(t.Calls); len(x.Conversation.Results) < calls || len(t.Calls) == 0 {
			turn = t
			break
		}
	}
	// Sessions have paths of their own. A request for a title is no attempt at the turn.
	asked := attempt{path.Dir(r.URL.Path), sha256.Sum256([]byte(x.Conversation.Prompt)), x.Turn, len(x.Conversation.Tools) == 0}
	s.ledger.mutex.Lock()
	s.ledger.attempts[asked]++
	x.Attempt = s.ledger.attempts[asked]
	s.ledger.mutex.Unlock()
	if fault := turn.Fault; fault.Times > 0 && x.Attempt > fault.Times {
		turn.Fault = Fault{}
	}
	answer, err := s.compose(turn, script.Dir, x.Conversation)
	if err != nil {
		s.object(w, x, http.StatusBadRequest, fmt.Errorf("turn %d: %w", x.Turn, err))
		return
	}
	x.Fault = turn.Fault.Kind
	s.note(x)
	s.answer(w, r, x, spoken, answer, turn.Fault)
}

// compose returns a turn as an answer, with calls of the asking agent's tools.
func (s *Server) compose(turn Turn, dir string, c Conversation) (a answer, err error) {
	a = answer{id: fmt.Sprint(s.numbers.Add(1)), model: c.Model, text: turn.Say, usage: turn.Usage, created: s.config.Clock().Unix()}
	if a.usage == (Usage{}) {
		a.usage = DefaultUsage
	}
	if c.Form != nil {
		a.text, err = c.Form.completed(map[string]any{})
		return a, err
	}
	if len(turn.Calls) > 0 && len(c.Tools) == 0 {
		a.text = defaultTitle
		return a, nil
	}
	for _, wanted := range turn.Calls {
		call, err := wanted.in(dir, c.Tools)
		if err != nil {
			return answer{}, err
		}
		call.id = "call_" + fmt.Sprint(s.numbers.Add(1))
		a.calls = append(a.calls, call)
	}
	return a, nil
}

// object answers a request that the script does not foresee.
func (s *Server) object(w http.ResponseWriter, x *Exchange, status int, problem error) {
	x.Problem = fmt.Sprintf("%s %s: %v", x.Method, x.Path, problem)
	s.note(x)
	s.reply(w, x, status, object{"error": object{"type": "scripted_model", "message": x.Problem}})
}

// reply sends a whole answer at once.
func (s *Server) reply(w http.ResponseWriter, x *Exchange, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	x.Status, x.End = status, Answered
	if err := json.NewEncoder(w).Encode(body); err != nil {
		x.End = Gone
	}
	s.note(x)
}

// attempt is a turn that was asked for.
type attempt struct {
	session string
	prompt  [sha256.Size]byte
	turn    int
	title   bool
}
