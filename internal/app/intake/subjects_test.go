package intake

import (
	"slices"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/workflow"
)

// On GitLab, issue 5 and merge request 5 are two things: what the webhook says counts, and not that a run has a pull request of the number.
func TestAWebhookThatSaysWhatItIsAboutIsBelieved(t *testing.T) {
	t.Parallel()
	run := &workflow.Run{}
	run.Details.Number, run.Details.PullRequest = 9, &workflow.PullRequest{Number: 5}
	runs := []*workflow.Run{run}
	for _, c := range []struct {
		wake forge.Wake
		want forge.Subject
	}{
		{forge.Wake{Numbers: []int{5}}, forge.OnPull(5)},
		{forge.Wake{Numbers: []int{5}, On: []forge.Subject{forge.OnIssue(5)}}, forge.OnIssue(5)},
		{forge.Wake{Numbers: []int{9}, On: []forge.Subject{forge.OnPull(9)}}, forge.OnPull(9)},
	} {
		if got := subjects(c.wake, runs); !slices.Equal(got, []forge.Subject{c.want}) {
			t.Errorf("%+v is about %v, want %v", c.wake, got, c.want)
		}
	}
}
