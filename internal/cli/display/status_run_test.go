package display

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"signalbox/internal/cli/command"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

func TestStatusSaysWhatPeopleDoOnTheForge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		awaits workflow.Await
		do     string
		here   bool
	}{
		{workflow.Await{Kind: await.Approval}, "approve the pull request", true},
		{workflow.Await{Kind: await.Approval, Required: true}, "approve the pull request", false},
		{workflow.Await{Kind: await.Merge, Required: true}, "ask a maintainer to merge the pull request", false},
	} {
		var out bytes.Buffer
		until := time.Now()
		run := workflow.Run{State: workflow.Queued, Details: workflow.Details{Number: 42, Head: "1", Phase: workflow.CIWatch, ParkedUntil: &until, Pending: []workflow.Action{{Kind: workflow.WatchChecks}},
			PullRequest: &workflow.PullRequest{Number: 7, URL: "https://forge.example/pull/7", Checked: &workflow.Candidate{Head: "1"}, Awaits: &c.awaits}}}
		printAwaits(&command.Invocation{Console: command.Console{Out: &out}}, &run, true)
		said := out.String()
		if !strings.Contains(said, "  "+c.do+" on the forge: https://forge.example/pull/7\n") || !strings.Contains(said, "it looks again at ") ||
			strings.Contains(said, "or here: signalbox approve 42") != c.here {
			t.Errorf("with %v it says %s", c.awaits, said)
		}
	}
}
