package perform

import (
	"log/slog"
	"testing"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func TestAPlanMayOnlyNameItsEnvironment(t *testing.T) {
	t.Parallel()
	x := &execution{Performer: New(Config{Redact: redact.New(nil), Logger: slog.New(slog.DiscardHandler)})}
	for environment, want := range map[string]string{
		`"python"`:           "python",
		`{"name": "python"}`: "python",
		`"Not a name!"`:      "",
		`7`:                  "",
	} {
		answer := `{"goal_understanding": "g", "selected_environment": ` + environment + `,
			"action_plan": {"steps": [{"step_id": "S01", "title": "t", "role": "tester", "instructions": "i"}]}}`
		got := ""
		if e, ok := x.answer(workflow.Outcome{}, workflow.Action{Role: workflow.Planner}, answer, "").(workflow.PlanAnswered); ok {
			got = e.Plan.Environment.Name
			if role := e.Plan.Actions.Steps[0].Role; role != "tester" {
				t.Errorf("the step's role is %q", role)
			}
		}
		if got != want {
			t.Errorf("%s is %q, want %q", environment, got, want)
		}
	}
}
