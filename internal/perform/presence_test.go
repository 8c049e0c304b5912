package perform

import (
	"context"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// resets is an environment that notes its resets.
type resets struct {
	environment.Environment
	to []string
}

func (r *resets) Reset(_ context.Context, commit, _ string) error {
	r.to = append(r.to, commit)
	return nil
}

type oneEnvironment struct {
	environment.Driver
	env environment.Environment
}

func (d oneEnvironment) Make(context.Context, environment.Spec) (environment.Environment, error) {
	return d.env, nil
}

func (d oneEnvironment) Attach(context.Context, environment.Spec) (environment.Environment, error) {
	return d.env, nil
}

// atRecorded is a run whose environment was just recorded, according to the document.
func atRecorded() workflow.Run {
	run := workflow.New(workflow.Start{RequestID: "RQ-20260101-001", RunID: "20260101-120000-abcdef", Number: 1, Branch: "signalbox/1-x", Base: "main"}, time.Unix(0, 0))
	run.State, run.Details.Head, run.Details.Epoch, run.Details.EnvID = workflow.Running, "c1", 3, "issue-1"
	run.Details.Pending = []workflow.Action{{Key: "007-call", Kind: workflow.CallAgent, Role: workflow.Implementer}}
	run.Details.Presence = workflow.Presence{Entered: true, Content: "c1"}
	return run
}

func TestTheStateOfAnEnvironmentComesFromTheDocument(t *testing.T) {
	t.Parallel()
	env := &resets{}
	// Each process is another Performer: none has anything but the document.
	ready := func(run workflow.Run) workflow.Presence {
		p := New(Config{Environments: oneEnvironment{env: env}, Redact: redact.New(nil), Clock: engine.Clock{Now: time.Now}})
		x := p.of(run)
		if _, err := x.ready(t.Context(), workflow.Action{Key: "007-call"}); err != nil {
			t.Fatal(err)
		}
		return x.presence
	}
	run := atRecorded()
	if after := ready(run); len(env.to) != 0 || after.Content != "" {
		t.Errorf("a just recorded environment was reset to %q; then %+v is known", env.to, after)
	}
	same, _ := machine.Decide(run, workflow.Admitted{Epoch: 3}, run.UpdatedAt)
	if ready(same); len(env.to) != 1 || env.to[0] != "c1" || !same.Details.Presence.Entered {
		t.Errorf("after a stop it was reset to %q; known is %+v", env.to, same.Details.Presence)
	}
	other, _ := machine.Decide(run, workflow.Admitted{Epoch: 4}, run.UpdatedAt)
	if other.Details.Presence.Entered || other.Details.Presence.Content != "" {
		t.Errorf("another engine knows %+v", other.Details.Presence)
	}
}
