package display

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"signalbox/internal/cli/command"
	"signalbox/internal/workflow"
)

func TestStatusSaysHowAPullRequestIsApproved(t *testing.T) {
	t.Parallel()
	for _, onForge := range []bool{true, false} {
		var out bytes.Buffer
		until := time.Now()
		run := workflow.Run{State: workflow.Queued, Details: workflow.Details{Number: 42, Head: "1", ParkedUntil: &until, Pending: []workflow.Action{{Kind: workflow.WatchChecks}},
			PullRequest: &workflow.PullRequest{Number: 7, URL: "https://forge.example/pull/7", Checked: &workflow.Candidate{Head: "1"}}}}
		run.Details.Settings.ApproveOnForge = onForge
		printApproval(&command.Invocation{Console: command.Console{Out: &out}}, &run, true)
		said := out.String()
		if !strings.Contains(said, "approve the pull request on the forge: https://forge.example/pull/7\n") || !strings.Contains(said, "it looks for the approval again at ") ||
			strings.Contains(said, "or here: signalbox approve 42") != onForge {
			t.Errorf("with %t it says %s", onForge, said)
		}
	}
}
