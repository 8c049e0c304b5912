package jsonrpc_test

import (
	"encoding/json"
	"testing"

	"signalbox/internal/agent/jsonrpc"
)

func TestEachLineIsClassified(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, line        string
		ok                bool
		request, response bool
	}{
		{"a request", `{"id":"a","method":"m"}`, true, true, false},
		{"a notification", `{"method":"m","params":[]}`, true, false, false},
		{"a response", `{"id":1,"result":null}`, true, false, true},
		{"a response that is a problem", `{"id":1,"error":{"code":-1,"message":"no"}}`, true, false, true},
		{"a problem of another shape", `{"id":1,"error":{"code":"x"}}`, true, false, true},
		{"a program that could not read what it was told", `{"id":null,"error":{"code":-32700}}`, true, false, true},
		{"half a line", `{"id":1,"result":{"a":`, false, false, false},
		{"a line of another kind", `{"level":"info"}`, false, false, false},
		{"a method of another type", `{"id":1,"method":7}`, false, false, false},
		{"no JSON", `Listening.`, false, false, false},
		{"nothing", ``, false, false, false},
		{"a list", `[{"id":1,"method":"m"}]`, false, false, false},
	} {
		m, ok := jsonrpc.Read([]byte(test.line))
		if ok != test.ok || ok && (m.IsRequest() != test.request || m.IsResponse() != test.response) {
			t.Errorf("%s: %+v, %t", test.name, m, ok)
		}
	}
}

func TestARequestIsKnownByItsNumber(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{"3": 3, "null": 0, `"3"`: -1, "[]": -1, "3.5": -1} {
		m := jsonrpc.Message{ID: json.RawMessage(id)}
		if number, ok := m.Number(); ok != (want >= 0) || ok && number != want {
			t.Errorf("the number of %s is %d, %t", id, number, ok)
		}
	}
}

func TestEachMessageIsOneLine(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "2.0"} {
		p, head := jsonrpc.Peer{Version: version}, ""
		if version != "" {
			head = `"jsonrpc":"2.0",`
		}
		from := jsonrpc.Message{ID: json.RawMessage(`"a"`)}
		p.Request("begin", map[string]string{"text": "one\ntwo"})
		p.Notify("begun")
		p.Request("go", []int{})
		p.Respond(from, nil)
		p.Refuse(from)
		want := `{` + head + `"id":1,"method":"begin","params":{"text":"one\ntwo"}}` + "\n" +
			`{` + head + `"method":"begun"}` + "\n" +
			`{` + head + `"id":2,"method":"go","params":[]}` + "\n" +
			`{` + head + `"id":"a","result":null}` + "\n" +
			`{` + head + `"id":"a","error":{"code":-32601,"message":"this method is unknown"}}` + "\n"
		if got := string(p.Told()); got != want || p.Sent != 2 {
			t.Errorf("it is told\n%s, %d requests; want\n%s", got, p.Sent, want)
		}
		if again := p.Told(); len(again) > 0 {
			t.Errorf("it is told %q once more", again)
		}
	}
}
