package budget

import (
	"bytes"
	"container/list"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge/rest"
)

const (
	// maxKept bounds what is kept of one credential's answers, in bytes. It holds some hundred.
	maxKept = 16 << 20
	// maxKeptAnswer keeps one answer from displacing all others.
	maxKeptAnswer = 2 << 20
	// strongAfter is how old a Last-Modified must be: it has whole seconds, and what changes again in the same one would never be seen.
	strongAfter = time.Minute
)

// answer is a response that was read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
	// at is when the server gave or confirmed it, by our clock.
	at time.Time
}

func (a answer) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}
}

// keptHeaders are kept with an answer: what it is, how it is asked for again, and which page follows it. Times and limits are those of one exchange.
var keptHeaders = []string{"Content-Type", "Etag", "Last-Modified", "Link"}

// kept returns an answer as it is kept.
func (a answer) kept() answer {
	header := http.Header{}
	if a.status != http.StatusOK {
		a.header = http.Header{"Content-Type": a.header["Content-Type"]}
	}
	for _, name := range keptHeaders {
		if values := a.header[name]; len(values) > 0 {
			header[name] = values
		}
	}
	a.header = header
	return a
}

// condition asks the server whether an answer still holds, and reports whether it can.
func (a answer) condition(h http.Header) bool {
	if tag := a.header.Get("ETag"); tag != "" {
		h.Set("If-None-Match", tag)
		return true
	}
	if modified := a.header.Get("Last-Modified"); modified != "" {
		h.Set("If-Modified-Since", modified)
		return true
	}
	return false
}

// worthKeeping reports whether an answer can serve again: it is whole, an API's, and the server can confirm it, or it is wanted again soon. That there is
// nothing, or a right is missing, is wanted again only then.
func (a answer) worthKeeping(soon bool) bool {
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	api := err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
	if !api || len(a.body) > maxKeptAnswer || !json.Valid(a.body) {
		return false
	}
	if a.status != http.StatusOK {
		return soon && (a.status == http.StatusNotFound || a.status == http.StatusForbidden)
	}
	if a.header.Get("ETag") != "" || soon {
		return true
	}
	modified, err := http.ParseTime(a.header.Get("Last-Modified"))
	return err == nil && rest.Clock(a.header, a.at).Sub(modified) >= strongAfter
}

// confirmed is a known answer with the headers that its confirmation has. A list whose page is full stays as it is when it grows, and only a
// header says that there is another page.
func (a answer) confirmed(by http.Header, at time.Time) answer {
	a.header, a.at = a.header.Clone(), at
	for name, values := range by {
		if !strings.HasPrefix(name, "Content-") {
			a.header[name] = values
		}
	}
	return a
}

// answers keeps the answers to one credential.
type answers interface {
	get(key string) (answer, bool)
	put(key string, a answer)
	// confirm keeps a known answer that the server confirmed, and returns it with the confirmation's headers.
	confirm(key string, known answer, by http.Header, at time.Time) answer
}

// memory keeps the most recently used answers of this process. The zero value is ready.
type memory struct {
	mu    sync.Mutex
	size  int
	byKey map[string]*list.Element
	// order has the most recently used in front.
	order list.List
}

type remembered struct {
	key    string
	answer answer
}

func (m *memory) get(key string) (answer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.byKey[key]
	if !ok {
		return answer{}, false
	}
	m.order.MoveToFront(found)
	return found.Value.(remembered).answer, true
}

func (m *memory) put(key string, a answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.byKey[key]; ok {
		m.drop(old)
	}
	if m.byKey == nil {
		m.byKey = map[string]*list.Element{}
	}
	m.byKey[key] = m.order.PushFront(remembered{key, a.kept()})
	m.size += len(a.body)
	for m.size > maxKept {
		m.drop(m.order.Back())
	}
}

func (m *memory) confirm(key string, known answer, by http.Header, at time.Time) answer {
	again := known.confirmed(by, at)
	m.put(key, again)
	return again
}

func (m *memory) drop(e *list.Element) {
	gone := m.order.Remove(e).(remembered)
	delete(m.byKey, gone.key)
	m.size -= len(gone.answer.body)
}
