package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/config"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// form calls answer as a client of the newest protocol does, which gets a form as a result and sends the person's answer with the next call.
func (s *served) form(user, more string) (state, text string) {
	s.Helper()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"robot","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"answer","arguments":{"run":"7"},` + meta + more + `}}`
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second) // an answer that is given waits until a run takes it
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + s.tokens[user]},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"answer"}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	if _, event, is := bytes.Cut(data, []byte("data: ")); is {
		data = event
	}
	var answer struct{ Result struct{ RequestState string } }
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&answer); err != nil {
		s.Fatalf("%s: %v", data, err)
	}
	return answer.Result.RequestState, string(data)
}

// sends answers the form with this state.
func (s *served) sends(user, state, content string) string {
	s.Helper()
	_, text := s.form(user, `,"requestState":"`+state+`","inputResponses":{"answer":{"action":"accept","content":`+content+`}}`)
	return text
}

func TestAFormIsNoWayAroundTheRoleThatAUserHasNow(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"anna": "approver"})
	p := apptest.Open(t, s.project)
	if begun, err := p.StartRuns(t.Context(), []string{"7"}, func(*app.App) func(workflow.Run) { return func(workflow.Run) {} }); err != nil || begun[0].Err != nil {
		t.Fatal(begun, err)
	}
	found, err := p.Find(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := p.Store.LockRequest(t.Context(), found.Ref.RequestID, engine.Owner{Name: "run"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	asks := func(text string) {
		writer, run, err := p.Store.OpenRun(t.Context(), found.Ref)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = writer.Close() }()
		now := time.Now().UTC()
		run.State, run.EndedAt, run.Error = workflow.Running, nil, nil
		run.Details.Question = &workflow.Question{ID: "Q1", Role: workflow.Implementer, Kind: workflow.PermissionQuestion, Tool: "Bash", Text: text, AskedAt: now, Until: now.Add(time.Hour)}
		run.Details.Transition++
		if err := writer.Save(t.Context(), &run, "Stopped"); err != nil {
			t.Fatal(err)
		}
	}
	asks("ls")
	state, text := s.form("anna", "")
	if state == "" {
		t.Fatalf("no form is shown: %s", text)
	}
	asks("rm -r /") // the same number, another question
	if text := s.sends("anna", state, `{"allow":true}`); !strings.Contains(text, "no answer to a form") {
		t.Errorf("the form of another question counts: %s", text)
	}
	if state, text = s.form("anna", ""); state == "" {
		t.Fatalf("no form is shown: %s", text)
	}
	s.mu.Lock()
	s.settings.Users = map[string]config.ServeUser{"anna": {Role: "operator", Token: s.settings.Users["anna"].Token}}
	s.mu.Unlock()
	if text := s.sends("anna", state, `{"allow":true}`); !strings.Contains(text, "may not allow") {
		t.Errorf("an operator allows it: %s", text)
	}
	data, err := os.ReadFile(filepath.Join(s.folder, "audit.jsonl"))
	if err != nil || !strings.Contains(string(data), `"detail":"allow in a form","outcome":"failed"`) {
		t.Errorf("the record is %s, %v", data, err)
	}
	if run, err := p.Store.LoadRun(t.Context(), found.Ref); err != nil || len(run.Signals.Commands) != 0 {
		t.Errorf("it has the order %+v, %v", run.Signals.Commands, err)
	}
}
