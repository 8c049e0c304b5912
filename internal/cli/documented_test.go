package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// mustBeDocumented reads every document of one request strictly.
func (p *project) mustBeDocumented(s *store.Store, n int) {
	p.Helper()
	ctx := context.Background()
	id := fmt.Sprintf("RQ-20260101-%03d", n)
	latest, err := s.LatestRun(ctx, id)
	if err = errors.Join(err, latest.Err); err != nil {
		p.Fatal(err)
	}
	run := latest.Run
	if run.State != workflow.Done || run.Details.MergeCommit == "" || run.Locks.Request.Held || run.Locks.Queue.Held {
		p.Errorf("stage.json of %s: state %s, merge %q, locks %+v", id, run.State, run.Details.MergeCommit, run.Locks)
	}
	if dirs, err := filepath.Glob(filepath.Join(p.dir, "runs", id, "*")); err != nil || len(dirs) != 1 {
		p.Errorf("%s has the runs %q, want one (%v)", id, dirs, err)
	}
	plan, err := s.Plan(latest.Ref).Load(ctx)
	if err != nil || !slices.EqualFunc(plan.Actions.Steps, run.Steps, func(a workflow.PlannedStep, b workflow.Step) bool { return a.StepID == b.StepID }) {
		p.Errorf("planning.json of %s does not match the steps of stage.json: %v", id, err)
	}
	status, err := s.IssueStatus(n).Load(ctx)
	if err != nil || status.Status != registry.IssueComplete {
		p.Errorf("issue status of %s: %q, %v", id, status.Status, err)
	}
	environments, err := s.Environments().Load(ctx)
	entries := slices.DeleteFunc(environments.Environments, func(e registry.Environment) bool { return e.IssueNumber != n })
	if err != nil || len(entries) != 1 || entries[0].Status != registry.EnvironmentMerged || entries[0].Phase != workflow.ParentClose {
		p.Errorf("environments.json of %s: %+v, %v", id, entries, err)
	}
	p.mustHaveOnePull(s, &run)
	p.mustHaveEveryTransition(latest.Ref, run.Details.Transition)
}

func (p *project) mustHaveOnePull(s *store.Store, run *workflow.Run) {
	p.Helper()
	type record struct {
		Key         string `json:"key"`
		State       string `json:"state"`
		MergeCommit string `json:"merge_commit"`
		Merging     any    `json:"merging"`
	}
	names, err := s.Records(context.Background(), "pulls")
	if err != nil {
		p.Fatal(err)
	}
	var found []record
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(p.dir, ".signalbox", "pulls", name+".json"))
		var r record
		if err = errors.Join(err, json.Unmarshal(data, &r)); err != nil {
			p.Fatalf("read pull record %s: %v", name, err)
		}
		if r.Key == run.RunID {
			found = append(found, r)
		}
	}
	if want := (record{Key: run.RunID, State: "merged", MergeCommit: run.Details.MergeCommit}); len(found) != 1 || found[0] != want {
		p.Errorf("pull records %+v, want %+v alone", found, want)
	}
	if merge := p.git("log", "--first-parent", "--format=%H", "--grep=Signalbox-Run: "+run.RunID, "main"); merge != run.Details.MergeCommit {
		p.Errorf("the merge commit of run %s on main is %q, stage.json has %q", run.RunID, merge, run.Details.MergeCommit)
	}
}

// mustHaveEveryTransition wants events.jsonl to count from 0 to last without a gap.
func (p *project) mustHaveEveryTransition(ref workflow.RunRef, last int) {
	p.Helper()
	lines := p.events(store.RunDir(ref))
	for i, line := range lines {
		var event store.Transition
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Seq != i {
			p.Errorf("transition %d in events.jsonl is %q (%v)", i, line, err)
		}
	}
	if len(lines) != last+1 {
		p.Errorf("events.jsonl ends with %d, stage.json is at %d", len(lines)-1, last)
	}
}

// events are the whole lines of a run's events.jsonl.
func (p *project) events(dir string) []string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, dir, "events.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Fatal(err)
	}
	whole := string(data[:bytes.LastIndexByte(data, '\n')+1])
	return strings.Split(strings.TrimSuffix(whole, "\n"), "\n")[:strings.Count(whole, "\n")]
}
