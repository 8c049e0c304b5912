package environments

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func TestAnEntryIsFoundByTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	doc := &registry.Environments{}
	for _, id := range []string{"issue-4-a", "issue-42-b", "issue-42-c", "other"} {
		doc.Environments = append(doc.Environments, registry.Environment{EnvID: id})
	}
	for _, c := range []struct {
		ref, id string
		code    int
		says    string
	}{
		{"other", "other", 0, ""},
		{"othe", "other", 0, ""},
		{"oth", "", problem.NotFound, "signalbox env list"},
		{"issue-4", "issue-4-a", 0, ""},
		{"issue-42-b", "issue-42-b", 0, ""},
		{"issue-42", "", problem.Usage, "issue-42-b, issue-42-c"},
		{"#42", "", problem.NotFound, "signalbox env find-by-issue 42"},
	} {
		found, err := Entry(doc, c.ref)
		if c.id != "" {
			if err != nil || found.EnvID != c.id {
				t.Errorf("%s: found %v, error %v", c.ref, found, err)
			}
			continue
		}
		var known *problem.Error
		if !errors.As(err, &known) || known.Code != c.code || !strings.Contains(known.Hint, c.says) {
			t.Errorf("%s: error %v", c.ref, err)
		}
	}
}

func TestSetupLogsSayHowTheirCommandsEnded(t *testing.T) {
	t.Parallel()
	run := &workflow.Run{}
	run.Details.SetUp = &workflow.SetUp{Status: workflow.SetUpFailed, Next: 1, Commands: []string{"one", "two"},
		Verification: []workflow.Verification{{Command: "check"}},
		Ran:          []workflow.CommandRun{{LogPath: "runs/1/logs/setup.command.1.log", DurationMS: 1500}},
		Errors:       []string{"one: exit code 1\nmore", "other: exit code 2"}}
	logs := SetUpLogs(run, "runs/1/logs", []string{"setup.command.4.log", "setup.command.2.log", "setup.command.1.log", "setup.command.3.log", "setup.command.0.log", "agent.log"})
	var got []string
	for _, l := range logs {
		got = append(got, strings.Join([]string{l.Title(), l.Command, l.Ended, strings.Join(l.Failures, "+")}, "|"))
	}
	want := []string{"setup 1 of 2|one|exit code 0 after 1.5s|exit code 1", "setup 2 of 2|two|failed|", "verification 1 of 1|check|not ended|",
		"command 4 of an earlier setup||replaced by a correction|"}
	if !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
}
