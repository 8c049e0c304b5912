package modeltest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// reply is a response, whose body is closed when the test ends.
type reply struct {
	StatusCode int
	Header     http.Header
	Body       io.ReadCloser
}

// ask sends a request for an answer of the model.
func (c client) ask(t *testing.T, url, prompt string, results []string, stream bool) reply {
	t.Helper()
	return c.send(t, url, c.messages(prompt, results), stream)
}

func (c client) send(t *testing.T, url, messages string, stream bool) reply {
	t.Helper()
	path := c.path
	if stream {
		path = c.streamPath
	}
	return post(t, url+path, c.request(messages, stream), func(h http.Header) { c.authorize(h, "key-of-"+string(c.api)) })
}

func post(t *testing.T, url, body string, set func(http.Header)) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	set(request.Header)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return reply{response.StatusCode, response.Header, response.Body}
}

// said is the content of an answer.
type said struct {
	text, name, arguments string
	events                int
}

// hear reads an answer to its end.
func (c client) hear(t *testing.T, response reply, stream bool) (heard said) {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", response.StatusCode, err, body)
	}
	if !stream {
		heard.add(t, body, c.whole)
		return heard
	}
	data := events(body)
	for _, d := range data {
		if string(d) != "[DONE]" {
			heard.add(t, d, c.event)
		}
	}
	heard.events = len(data)
	if len(data) == 0 || !bytes.Contains(data[len(data)-1], []byte(c.last)) {
		t.Errorf("the stream does not end with %s:\n%s", c.last, body)
	}
	return heard
}

// events are the data of a stream's events.
func events(body []byte) (data [][]byte) {
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		if d, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			data = append(data, bytes.Clone(d))
		}
	}
	return data
}

func (s *said) add(t *testing.T, document []byte, at spoken) {
	t.Helper()
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	s.text += find(value, at.text)
	s.name += find(value, at.name)
	s.arguments += find(value, at.arguments)
}

// find is the string at a path, or the JSON of the object there; empty if there is neither.
func find(value any, path string) string {
	if kind, rest, typed := strings.Cut(path, "?"); typed {
		if find(value, "type") != kind {
			return ""
		}
		path = rest
	}
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			var index int
			if _, err := fmt.Sscan(key, &index); err != nil || index >= len(v) {
				return ""
			}
			value = v[index]
		default:
			return ""
		}
	}
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		text, _ := json.Marshal(v)
		return string(text)
	}
	return ""
}
