package machine

import (
	"testing"

	"signalbox/internal/workflow"
)

// story is a run's life up to a point, and where that leaves it (see where).
type story struct {
	name string
	with workflow.Settings
	acts []act
	want string
}

func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if got := where(lived(t, s.with, s.acts...)); got != s.want {
				t.Errorf("\ngot  %s\nwant %s", got, s.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	full, simple := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, true)
	tell(t, []story{
		{"a new run waits for its slot", full, nil, "QUEUED branch-create"},
		{"an admitted run looks at its dependencies first", full, []act{does(workflow.Admitted{})}, "RUNNING branch-create check_dependencies"},
		{"a run in which all goes well is merged", full, []act{toTheEnd}, "DONE parent-close"},
		{"a simple run in which all goes well is merged", simple, []act{toTheEnd}, "DONE parent-close"},
		{"a run that crashes before every action is merged all the same", full, []act{does(workflow.Admitted{}), until(func(run workflow.Run) bool {
			return run.Details.Phase == workflow.PRCreate
		}), crash, well, crash, well, crash, well, crash, well, crash, well}, "DONE parent-close"},
		{"a missing dependency asks a person", full, []act{does(workflow.Admitted{}),
			answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
				return workflow.DependenciesChecked{Outcome: o, Missing: []string{"41"}}
			})}, "NEEDS_INPUT branch-create DEPENDENCY_MISSING"},
		{"dependencies are looked at again after that", full, []act{does(workflow.Admitted{}),
			answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
				return workflow.DependenciesChecked{Outcome: o, Missing: []string{"41"}}
			}), resumed}, "RUNNING branch-create check_dependencies"},
	})
}

func TestOnlyAnOutcomeOfTheActionInHandIsTaken(t *testing.T) {
	t.Parallel()
	atWork := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	waiting := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CreateEnvironment), actionFails(gitFailed, 0))
	stopped := does(workflow.StopRequested{})(t, atWork)
	merged := lived(t, ordinary(workflow.WorkflowFull, true), toTheEnd)
	for _, test := range []struct {
		name  string
		run   workflow.Run
		event workflow.Event
	}{
		{"an outcome that was never asked for", atWork, workflow.Merged{Outcome: workflow.Outcome{Key: "999-merge_pull_request"}, Commit: "m1"}},
		{"an outcome answered long ago", atWork, workflow.EnvironmentCreated{Outcome: workflow.Outcome{Key: "003-create_environment"}, EnvID: "other"}},
		{"a second copy of a failure that is being waited for", waiting, workflow.ActionFailed{Outcome: workflow.Outcome{Key: waiting.Details.Pending[1].Key}, Error: gitFailed}},
		{"an outcome that arrives after a stop", stopped, goesWell(atWork)},
		{"anything after the merge", merged, workflow.StopRequested{Cancel: true}},
		{"an admission of a stopped run", stopped, workflow.Admitted{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			after, actions := Decide(test.run, test.event, epoch.Add(1))
			if encoded(t, after) != encoded(t, test.run) || len(actions) != len(test.run.Details.Pending) {
				t.Errorf("%s changed %s into %s", eventName(test.event), where(test.run), where(after))
			}
		})
	}
}

// Two answers to the same saved run must not share memory: a store may keep one
// while the other is being decided.
func TestAnswersToTheSameRunShareNothingThatGrows(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	for _, name := range []string{"1.log", "2.log", "3.log"} { // the third append leaves room for a fourth
		run = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
			return workflow.AgentFailed{Outcome: o, Code: "AGENT_UNAVAILABLE", LogPath: name}
		})(t, run)
		run = resumed(t, run)
	}
	fails := func(log string) workflow.Run {
		after, _ := Decide(run, workflow.AgentFailed{Outcome: workflow.Outcome{Key: run.Details.Pending[0].Key}, Code: "AGENT_HUNG", LogPath: log}, epoch)
		return after
	}
	first := fails("first.log")
	fails("second.log")
	logs := first.Steps[first.CurrentStepIndex].Logs
	if logs[len(logs)-1] != "first.log" {
		t.Errorf("the first answer's logs became %q", logs)
	}
}

var gitFailed = workflow.Error{Category: workflow.CategoryGit, ReasonCode: "GIT_FAILED", Title: "git failed", Retryable: true}
