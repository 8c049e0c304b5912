package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/registry"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

func TestEveryRefusalSaysWhere(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	createRun(t, s)
	path := RunDir(testRef) + "/stage.json"
	for name, text := range hostileCases(read(t, s, path)) {
		problems := Validate(KindStage, path, []byte(text))
		if len(problems) == 0 {
			t.Errorf("%s: accepted", name)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Reason == "" || p.Path != path {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

func TestValidateSaysExactlyWhere(t *testing.T) {
	t.Parallel()
	const status = ".worktrees/.status/42.json"
	for name, c := range map[string]struct {
		kind       Kind
		path, text string
		want       string // line:column reason, or its beginning; several are separated by |
	}{
		"nothing wrong":         {KindStatus, status, `{"issue": 42, "status": "running"}`, ""},
		"a text for a number":   {KindStatus, status, "{\n \"issue\": \"42\"}", "2:2 /issue: not a whole number"},
		"another issue":         {KindStatus, status, `{"status": "running", "issue": 41}`, "1:23 issue 41 in the file of issue 42"},
		"no issue":              {KindStatus, status, `{"status": "running"}`, "1:1 issue 0"},
		"after wide letters":    {KindStatus, status, `{"session": "é🚉", "issue": 41}`, "1:19 issue 41"},
		"any issue elsewhere":   {KindStatus, "x.json", `{"issue": 42, "status": "running"}`, ""},
		"an unknown word":       {KindStatus, status, `{"issue": 42, "status": "sleeping"}`, `1:15 status "sleeping" is none of`},
		"a bad time":            {KindState, "state.json", "{\n\n  \"cooldown_until\": \"soon\"}", "3:3 cooldown_until"},
		"another version":       {KindStage, "stage.json", "{\"a\": {\"version\": 1},\n\"version\": \"2.0\"}", "2:1 document has an unknown version"},
		"several at once":       {KindStage, "stage.json", `{"version": "1.0", "state": "X", "stage": "Y"}`, `1:20 state "X"|1:34 stage "Y"|1:1 request_id`},
		"a name with a slash":   {KindEnvironments, "environments.json", `{"a/b~": {"Environments": 1}, "Environments": []}`, `1:31 name "Environments"`},
		"an entry of a list":    {KindEnvironments, "environments.json", "{\"environments\": [\n{\"env_id\": \"a\"},\n {}]}", "3:2 environments[1].env_id"},
		"too deep":              {KindEnvironments, "environments.json", `{"x": ` + strings.Repeat("[", strict.MaxDepth), "1:106 nested deeper"},
		"nothing":               {KindEnvironments, "environments.json", "", "1:1 empty document"},
		"an empty error":        {KindErrors, "errors.json", `{"actions": ["wait"]}`, "1:1 an error needs"},
		"a line that goes back": {KindEvents, "events.jsonl", "{\"seq\":0}\n{\"seq\":2}\n{\"seq\":1}\n", "3:2 seq 1 after 2"},
		"a torn line":           {KindEvents, "events.jsonl", "{\"seq\":0}\n{\"seq\":1", "2:"},
		"a line without end":    {KindEvents, "events.jsonl", "{\"seq\":0}", "1:1 the last line"},
		"an unknown kind":       {"sonnet", "x.json", "{}", "1:1 kind"},
	} {
		var wants []string
		if c.want != "" {
			wants = strings.Split(c.want, "|")
		}
		got := Validate(c.kind, c.path, []byte(c.text))
		if len(got) < len(wants) || len(wants) == 0 && len(got) > 0 {
			t.Errorf("%s: %v, want %q", name, got, wants)
			continue
		}
		for i, want := range wants {
			if is := strings.TrimPrefix(got[i].Place(), c.path+":") + " " + got[i].Reason; !strings.HasPrefix(is, want) {
				t.Errorf("%s: %s, want %s", name, is, want)
			}
		}
	}
}

func TestStepsAreHeldAgainstThePlan(t *testing.T) {
	t.Parallel()
	run := newRun()
	run.Steps = []workflow.Step{{StepID: "S01", Attempt: 1}, {StepID: "S02", Attempt: 1}}
	stage, err := new(Store).encode(&run, indented)
	if err != nil {
		t.Fatal(err)
	}
	for plan, want := range map[string]bool{
		`{"action_plan": {"steps": [{"step_id": "S01"}, {"step_id": "S02"}]}}`: true,
		`{"action_plan": {"steps": [{"step_id": "S01"}]}}`:                     false,
		`{"action_plan": {"steps": [{"step_id": "S02"}, {"step_id": "S01"}]}}`: false,
	} {
		if problems := ValidateSteps("stage.json", stage, []byte(plan)); (len(problems) == 0) != want {
			t.Errorf("%s: %v", plan, problems)
		}
	}
}

func TestAKindIsToldByNameOrContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, text string
		want       Kind
	}{
		{"/p/runs/RQ-1/x/stage.json", "", KindStage}, {"planning.json", "", KindPlanning}, {"errors.json", "", KindErrors},
		{"events.jsonl", "", KindEvents}, {"environments.json", "", KindEnvironments}, {"state.json.bak", "", KindState},
		{".worktrees/.status/42.json", "", KindStatus}, {".status/042.json", "", ""}, {"42.json", `{"issue": 42, "session": ""}`, KindStatus},
		{"-", `{"retry_required": true}`, KindState}, {"-", `{"action_plan": {}}`, KindPlanning}, {"-", `{"run_id": ""}`, KindStage},
		{"-", `{"seq": 1}` + "\n" + `{"seq": 2}`, KindEvents}, {"-", `[]`, ""}, {"-", `{`, ""},
	} {
		if got, _ := KindOf(c.path, []byte(c.text)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.path, c.text, got, c.want)
		}
	}
}

func TestMigrateMendsOldDocumentsInPlaceOnce(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "environments.json", `{"environments": [{"env_id": "a", "phase": 9, "step": "pr-create", "x": 1.50}]}`)
	write(t, s, RunDir(testRef)+"/errors.json", `{"category": "INTERNAL", "reason_code": "X", "title": "", "message": "", "severity": "Major", "retryable": false, "actions": ["wait"]}`)
	write(t, s, ".worktrees/.status/7.json", `{`)
	places, err := s.Documents(t.Context())
	if err != nil || len(places) != 3 {
		t.Fatalf("%v, %v", places, err)
	}
	for round, want := range []map[string]string{
		{"environments.json /environments/0/phase": "9 11", RunDir(testRef) + "/errors.json /category": `"INTERNAL" "EXECUTION"`}, {},
	} {
		got := map[string]string{}
		for _, place := range places {
			before := read(t, s, place.Path)
			planned, err := s.Migrate(t.Context(), place, false)
			if read(t, s, place.Path) != before {
				t.Errorf("%s was written without being asked", place.Path)
			}
			done, again := s.Migrate(t.Context(), place, true)
			if len(planned) != len(done) || (err == nil) != (again == nil) {
				t.Errorf("%s: planned %v, %v; done %v, %v", place.Path, planned, err, done, again)
			}
			if broken := place.Kind == KindStatus; broken != (err != nil) || broken && read(t, s, place.Path) != "{" {
				t.Errorf("%s: %v", place.Path, err)
			}
			for _, mend := range done {
				if mend.Was != nil {
					got[place.Path+" "+mend.Pointer] = string(mend.Was) + " " + string(mend.Is)
				}
			}
		}
		if len(got) != len(want) {
			t.Errorf("round %d: %v, want %v", round, got, want)
		}
		for at, mend := range want {
			if got[at] != mend {
				t.Errorf("%s: %s, want %s", at, got[at], mend)
			}
		}
	}
	if text := read(t, s, "environments.json"); !strings.Contains(text, `"x": 1.50`) {
		t.Error(text)
	}
}

func TestAWatchTellsEveryDocumentAlsoOfRunsThatBeginLater(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "environments.json", `{"environments": []}`)
	changes, err := s.WatchDocuments(shortly(t))
	if err != nil {
		t.Fatal(err)
	}
	next := func(path string) Change {
		t.Helper()
		change := <-changes
		if change.Path != path {
			t.Fatalf("%q was told, want %s", change.Path, path)
		}
		return change
	}
	w, run := createRun(t, s)
	if change := next(RunDir(testRef) + "/stage.json"); change.Kind != KindStage || change.Document.(*workflow.Run).RunID != run.RunID {
		t.Errorf("%+v", change)
	}
	for range 3 { // each replaces the file
		save(t, w, &run)
		if got := next(RunDir(testRef) + "/stage.json").Document.(*workflow.Run).Details.Transition; got != run.Details.Transition {
			t.Errorf("transition %d, want %d", got, run.Details.Transition)
		}
	}
	if err := s.IssueStatus(7).Update(t.Context(), func(st *registry.IssueStatus) error { st.Status = registry.IssueRunning; return nil }); err != nil {
		t.Fatal(err)
	}
	next(".worktrees/.status/7.json")
	if err := s.IssueStatus(7).Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if change := next(".worktrees/.status/7.json"); change.Document != nil || change.Err != nil {
		t.Errorf("removed, and told as %+v", change)
	}
	write(t, s, "broken", "{")
	if err := os.Rename(filepath.Join(s.path, "broken"), filepath.Join(s.path, "environments.json")); err != nil {
		t.Fatal(err)
	}
	if change := next("environments.json"); change.Err == nil || change.Document != nil {
		t.Errorf("broken, and told as %+v", change)
	}
}

// shortly ends long after everything should have happened.
func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestAWatchOfPathsTellsNothingElse(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	changes, err := s.WatchDocuments(shortly(t), "runs")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Environments().Update(t.Context(), func(*registry.Environments) error { return nil }); err != nil {
		t.Fatal(err)
	}
	createRun(t, s)
	if change := <-changes; change.Kind != KindStage {
		t.Errorf("told of %s", change.Path)
	}
}
