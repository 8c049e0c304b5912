package store

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/registry"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

func FuzzStage(f *testing.F) {
	ref := workflow.RunRef{}
	d := new(Store).Stage(ref)
	d.check = (*workflow.Run).Validate
	for _, text := range hostileCases(goodStage(f)) {
		if len(text) < strict.MaxSize {
			f.Add([]byte(text))
		}
	}
	fuzz(f, d)
}

func FuzzPlanning(f *testing.F)     { fuzz(f, new(Store).Plan(testRef)) }
func FuzzErrors(f *testing.F)       { fuzz(f, new(Store).errors(testRef)) }
func FuzzEnvironments(f *testing.F) { fuzz(f, new(Store).Environments()) }
func FuzzState(f *testing.F)        { fuzz(f, new(Store).Health()) }
func FuzzStatus(f *testing.F)       { fuzz(f, new(Store).IssueStatus(42)) }

func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"seq":0,"at":"2026-11-20T10:11:12Z","event":"Created"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) { Validate(KindEvents, "events.jsonl", data) })
}

// hostileSeeds are beginnings for every reader; testdata/fuzz has more of each.
var hostileSeeds = []string{
	`{}`, `{"x": {"y": [1, 2.50, 12345678901234567890, null, "\u0085"]}}`, `{"version": "2.0"}`, strings.Repeat(`{"x":[`, 60),
	`{"environments": [{"env_id": "a", "x": 1e400, "phase": 9, "step": "pr-create", "blocked": {"context": {"a": [1.0]}, "x": {}}, "pending_issues": null}]}`,
	`{"environments": [{"env_id": "a", "created_at": "2026-01-01T00:00:00.500+09:00"}, {"env_id": "a"}]}`,
	`{"issue": 42, "status": "error", "error_message": "\ud800", "timestamp": "2026-01-01T00:00:00"}`, `{"issue": 42, "status": "running", "X": 1, "x": 1}`,
	`{"retry_required": true, "cooldown_until": "9999-12-31T23:59:59Z", "run_count": -0}`, `{"run_count": 1e309, "last_health_status": "critical"}`,
	`{"goal_understanding": "g", "action_plan": {"steps": [{"step_id": "S01", "x": {"deep": [{}]}}], "x": 0.10}, "selected_environment": {"verification": [{"x": ""}]}}`,
	`{"category": "INTERNAL", "reason_code": "X", "actions": ["wait"], "meta": {"n": 12345678901234567890, "f": 1.50, "s": "é"}, "related_paths": []}`,
}

// fuzzBudget is far above what any document of the fuzzer's size may take.
const fuzzBudget = 20 * time.Second

// fuzz holds of a reader: it never panics, every refusal has its place, and
// what it accepts it writes back as it was, foreign keys included.
func fuzz[T any](f *testing.F, d *Document[T]) {
	debug.SetMaxStack(64 << 20)
	d.err = nil
	for _, text := range hostileSeeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		begun := time.Now()
		value, err := d.parse(data)
		if took := time.Since(begun); took > fuzzBudget {
			t.Fatalf("took %s", took)
		}
		if err != nil {
			for _, p := range problems("x.json", data, err) {
				if p.Line < 1 || p.Column < 1 || p.Reason == "" {
					t.Fatalf("refused without a place: %+v", p)
				}
			}
			return
		}
		written, err := new(Store).encode(&value, indented)
		if err != nil {
			t.Fatalf("accepted and cannot be written: %v", err)
		}
		if problem := lost("", reflect.TypeFor[T](), jsontext.Value(bytes.TrimSpace(data)), jsontext.Value(written)); problem != "" {
			t.Fatalf("%s\nread    %s\nwritten %s", problem, data, written)
		}
		again, err := d.parse(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if twice, err := new(Store).encode(&again, indented); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("written again it is something else: %v\n%s\n%s", err, written, twice)
		}
	})
}

// lost names the first thing of what was read, as a t, that is not what was
// written. A key of ours that says nothing (null, empty) may be left out or
// become its zero value; everything else must be there.
func lost(at string, t reflect.Type, was, is jsontext.Value) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && was.Kind() == '{' {
		return lostMember(at, t, partsOf[map[string]jsontext.Value](was), partsOf[map[string]jsontext.Value](is))
	}
	if t != nil && t.Kind() == reflect.Slice && was.Kind() == '[' {
		before, after := partsOf[[]jsontext.Value](was), partsOf[[]jsontext.Value](is)
		if len(before) != len(after) {
			return fmt.Sprintf("%s: %d entries became %d", at, len(before), len(after))
		}
		for i := range before {
			if problem := lost(fmt.Sprintf("%s/%d", at, i), t.Elem(), before[i], after[i]); problem != "" {
				return problem
			}
		}
		return ""
	}
	if t != nil && was.Kind() == 'n' && is.Kind() != 'n' && saysNothing(is) || same(t, was, is) {
		return ""
	}
	return fmt.Sprintf("%s: %s became %s", at, was, is)
}

func lostMember(at string, t reflect.Type, before, after map[string]jsontext.Value) string {
	for name, was := range before {
		member, _ := strict.MemberType(t, name)
		is, ok := after[name]
		switch {
		case !ok && (member == nil || !saysNothing(was)):
			return fmt.Sprintf("%s/%s: %s is gone", at, name, was)
		case ok && mendable(member, was, is):
		case ok:
			if problem := lost(at+"/"+name, member, was, is); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// mendable: what mend functions change on purpose.
func mendable(t reflect.Type, was, is jsontext.Value) bool {
	switch t {
	case reflect.TypeFor[workflow.Phase]():
		return true
	case reflect.TypeFor[workflow.StepName](), reflect.TypeFor[registry.EnvironmentStatus](), reflect.TypeFor[time.Time]():
		return saysNothing(was)
	case reflect.TypeFor[workflow.Category]():
		return string(was) == `"INTERNAL"` && string(is) == `"EXECUTION"`
	}
	return false
}

func saysNothing(v jsontext.Value) bool {
	switch v.Kind() {
	case 'n', 'f':
		return true
	case '"':
		return string(v) == `""` || string(v) == `"0001-01-01T00:00:00Z"`
	case '0':
		var n float64
		return json.Unmarshal(v, &n) == nil && n == 0
	case '[':
		return len(partsOf[[]jsontext.Value](v)) == 0
	}
	for _, member := range partsOf[map[string]jsontext.Value](v) {
		if !saysNothing(member) {
			return false
		}
	}
	return true
}

// same compares what is kept as it is. Strings may be escaped otherwise; a time may have its zeros left out.
func same(t reflect.Type, was, is jsontext.Value) bool {
	a, b := was.Clone(), is.Clone()
	if t == reflect.TypeFor[time.Time]() {
		var x, y time.Time
		return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x.Equal(y)
	}
	if t != nil && (t.Kind() == reflect.Int || t.Kind() == reflect.Int64) && string(a) == "-0" {
		return string(b) == "0"
	}
	if a.Format(jsontext.ReorderRawObjects(true)) != nil || b.Format(jsontext.ReorderRawObjects(true)) != nil {
		return false
	}
	return bytes.Equal(a, b)
}

func goodStage(t testing.TB) string {
	t.Helper()
	run := newRun()
	run.State = workflow.Running
	data, err := new(Store).encode(&run, indented)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
