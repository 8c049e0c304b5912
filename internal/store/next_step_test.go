package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/commandline"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// before1 is what stood in a document before steps were data.
const before1 = `"category": "GIT", "reason_code": "MERGE_CONFLICT", "title": "t", "message": "m", "severity": "Major", "retryable": false,
	"actions": ["let the agent resolve it: signalbox sync 42", "then: signalbox resume 42"]`

func TestARunThatAnOlderVersionStoppedIsReadAndSavedAsItWas(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	run.Error = &workflow.Error{ReasonCode: "X", Title: "t", Next: []workflow.NextStep{workflow.Advice("OLD")}}
	ended := run.UpdatedAt
	run.State, run.EndedAt = workflow.NeedsInput, &ended
	save(t, w, &run)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := RunDir(testRef) + "/stage.json"
	text := read(t, s, path)
	start := strings.Index(text, `"error": {`) + len(`"error": {`)
	end := start + strings.Index(text[start:], "\n  },")
	write(t, s, path, text[:start]+before1+text[end:])
	w, run = openRun(t, s)
	if e := run.Error; len(e.Next) != 2 || e.Next[0].Text != "let the agent resolve it: signalbox sync 42" || e.Next[0].Verb != "" {
		t.Fatalf("its steps are read as %+v", e.Next)
	}
	save(t, w, &run)
	on, err := s.Stage(testRef).Load(t.Context())
	want := []string{"let the agent resolve it: signalbox sync 42", "then: signalbox resume 42"}
	if err != nil || !slices.Equal(on.Error.Actions, want) || len(on.Error.Next) != 2 {
		t.Errorf("saved, it has %q beside %+v (%v)", on.Error.Actions, on.Error.Next, err)
	}
}

func TestAStopIsSavedAsDataWithItsLines(t *testing.T) {
	t.Parallel()
	s := openAt(t, Config{Root: t.TempDir(), Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }})
	w, run := createRun(t, s)
	ended := run.UpdatedAt
	step := workflow.NextStep{Text: "take hunter2 out", Verb: workflow.VerbResume, Runs: []string{"42"}, Force: true}
	run.Error = &workflow.Error{ReasonCode: "X", Title: "t", Next: []workflow.NextStep{step}}
	run.Details.Blocked = &workflow.Blocked{Reason: workflow.ResourceLimit, Description: "d", BlockedAt: ended, Next: &step}
	run.State, run.EndedAt = workflow.NeedsInput, &ended
	save(t, w, &run)
	on, err := s.Stage(testRef).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if next := on.Error.Next[0]; next.Verb != workflow.VerbResume || !next.Force || next.Text != "take *** out" {
		t.Errorf("the step is saved as %+v", next)
	}
	const line = "take *** out: signalbox resume --force 42"
	if !slices.Equal(on.Error.Actions, []string{line}) || on.Details.Blocked.SuggestedAction != line {
		t.Errorf("its lines are %q, and the block suggests %q", on.Error.Actions, on.Details.Blocked.SuggestedAction)
	}
	if err := s.Environments().Update(t.Context(), func(doc *registry.Environments) error {
		doc.Environments = append(doc.Environments, registry.Environment{EnvID: "issue-42", Status: registry.EnvironmentBlocked, Blocked: run.Details.Blocked})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Environments().Load(t.Context()); err != nil || doc.Environments[0].Blocked.SuggestedAction != line {
		t.Errorf("environments.json suggests %+v (%v)", doc.Environments, err)
	}
}

// The documents are of two runs that commit 1790d9e stopped: one waits for approval, one for another request.
func TestOldDocumentsLoseNothingToNextSteps(t *testing.T) {
	t.Parallel()
	const dir = "testdata/before-next-steps"
	runs, err := os.ReadDir(dir)
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d old runs, %v", len(runs), err)
	}
	s := openStore(t)
	for _, run := range runs {
		stage, errors := oldDocument(t, filepath.Join(dir, run.Name(), "stage.json")), oldDocument(t, filepath.Join(dir, run.Name(), "errors.json"))
		d := &Document[workflow.Run]{store: s, version: workflow.RunVersion, fix: fixRun, check: (*workflow.Run).Validate}
		holdSame(t, d, stage, func(r *workflow.Run) *workflow.Error { return r.Error })
		holdSame(t, s.errors(testRef), errors, func(e *workflow.Error) *workflow.Error { return e })
	}
}

func oldDocument(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// holdSame reads an old document and writes it: what was in it stays, and each of its lines is a step.
func holdSame[T any](t *testing.T, d *Document[T], old []byte, stop func(*T) *workflow.Error) {
	t.Helper()
	value, err := d.parse(old)
	if err != nil {
		t.Fatal(err)
	}
	e := stop(&value)
	if lines := commandline.Lines(e); len(lines) < 2 || !slices.Equal(lines, e.Actions) {
		t.Errorf("it says %q where the document says %q", lines, e.Actions)
	}
	next, err := d.store.encode(&value, indented)
	if err != nil {
		t.Fatal(err)
	}
	for _, mend := range difference("", bytes.TrimSpace(old), bytes.TrimSpace(next)) {
		if mend.Was != nil {
			t.Errorf("%s was %s and is %s", mend.Pointer, mend.Was, mend.Is)
		}
	}
}
