package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// events are those of a run of two phases, whose process is killed in the second and which is continued.
const events = `{"seq":1,"at":"2026-01-01T10:00:00Z","event":"Created","state":"QUEUED","phase":0}
{"seq":2,"at":"2026-01-01T10:00:01Z","event":"Admitted","state":"RUNNING","phase":2,"actions":["003-plan","004-look"]}
{"seq":3,"at":"2026-01-01T10:00:03Z","event":"PlanFailed","state":"RUNNING","phase":2,"actions":["005-plan"]}
{"seq":4,"at":"2026-01-01T10:00:07Z","event":"Planned","state":"RUNNING","phase":12,"actions":["006-check"]}
torn
{"seq":6,"at":"2026-01-01T10:00:09Z","event":"Interrupted","state":"NEEDS_INPUT","phase":12,"actions":["006-check"]}
{"seq":7,"at":"2026-01-01T10:00:10Z","event":"Admitted","state":"RUNNING","phase":12,"actions":["006-check"]}
{"seq":8,"at":"2026-01-01T10:00:12Z","event":"Merged","state":"DONE","phase":14}
`

func TestATraceIsWholeAndSentOnceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	var bodies []map[string]any
	refuses := true
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(data, &body); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "a b" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v: %s", r.URL, r.Header, data)
		}
		if refuses {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		bodies = append(bodies, body)
	}))
	defer collector.Close()
	variables := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
	e, err := FromEnv(func(name string) string { return variables[name] })
	if err != nil {
		t.Fatal(err)
	}
	dir, ref := t.TempDir(), workflow.RunRef{RequestID: "RQ-1", RunID: "20260101-100000-abcdef"}
	folder := filepath.Join(dir, store.RunDir(ref))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	lines := strings.SplitAfter(events, "\n")
	send := func(until int, fails bool) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "events.jsonl"), []byte(strings.Join(lines[:until], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := e.Send(t.Context(), s, "parser", ref); (err != nil) != fails {
			t.Fatal(err)
		}
	}
	send(4, true)
	refuses = false
	send(4, false)
	send(4, false)
	send(6, false)
	send(len(lines), false)
	if len(bodies) != 3 {
		t.Fatalf("%d requests, want 3", len(bodies))
	}
	var got []string
	names := map[any]string{}
	var all []map[string]any
	for _, body := range bodies {
		resource := body["resourceSpans"].([]any)[0].(map[string]any)
		for _, each := range resource["scopeSpans"].([]any)[0].(map[string]any)["spans"].([]any) {
			sp := each.(map[string]any)
			names[sp["spanId"]] = sp["name"].(string)
			all = append(all, sp)
		}
	}
	for _, sp := range all {
		failed := ""
		if sp["status"] != nil {
			failed = " failed"
		}
		got = append(got, fmt.Sprintf("%s in %s %s-%s%s", sp["name"], names[sp["parentSpanId"]], second(sp["startTimeUnixNano"]), second(sp["endTimeUnixNano"]), failed))
	}
	want := `plan in PLAN 01-03 failed
plan in PLAN 03-07
PLAN in run 01-07
check in CHECKS 07-09
CHECKS in run 07-09
check in CHECKS 10-12
CHECKS in run 10-12
run in  00-12`
	want = strings.NewReplacer("PLAN", string(workflow.Phase(2).Step()), "CHECKS", string(workflow.Phase(12).Step())).Replace(want)
	if strings.Join(got, "\n") != want {
		t.Errorf("the spans are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if len(all[0]["traceId"].(string)) != 32 || len(all[0]["spanId"].(string)) != 16 {
		t.Errorf("the ids are %v", all[0])
	}
}

func second(nano any) string { return nano.(string)[8:10] }
