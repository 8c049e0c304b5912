package commandline_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"signalbox/internal/commandline"
	"signalbox/internal/workflow"
)

func TestAStepIsSaidAsOneLine(t *testing.T) {
	t.Parallel()
	of3 := func(text string, verb workflow.Verb) workflow.NextStep {
		return workflow.NextStep{Text: text, Verb: verb, Runs: []string{"3"}}
	}
	run := workflow.Run{Details: workflow.Details{Number: 3}}
	back := of3("or send it back", workflow.VerbReject)
	back.Blank = "what to change"
	for want, step := range map[string]workflow.NextStep{
		"free disk space":                                                    workflow.Advice("free disk space"),
		"agree: signalbox approve 3":                                         of3("agree", workflow.VerbApprove),
		"signalbox env logs 3":                                               of3("", workflow.VerbEnvironmentLogs),
		"or lose it: signalbox resume --force 3":                             run.Forced("or lose it"),
		`or send it back: signalbox reject 3 "what to change"`:               back,
		"begin again: signalbox stop --cancel 3; mend them; signalbox run 3": run.GiveUp("begin again").Following(workflow.Advice("mend them"), of3("", workflow.VerbRun)),
		"first: signalbox run -- 41 --unsandboxed":                           {Text: "first", Verb: workflow.VerbRun, Runs: []string{"41", "--unsandboxed"}},
		`git commit-tree -S "HEAD^{tree}"`:                                   {Program: []string{"git", "commit-tree", "-S", "HEAD^{tree}"}},
		"take it: git switch 'a$(touch b)'":                                  {Text: "take it", Program: []string{"git", "switch", "a$(touch b)"}},
		"remove it: signalbox env remove issue-3":                            {Text: "remove it", Verb: workflow.VerbRemoveEnvironment, Environment: "issue-3"},
	} {
		if got := commandline.Line(step); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

func TestAReasonIsSaidWithWhatCanBeDone(t *testing.T) {
	t.Parallel()
	steps := []workflow.NextStep{{Verb: workflow.VerbApprove, Runs: []string{"3"}}, {Text: "or look", Verb: workflow.VerbDoctor}}
	if got := commandline.Sentence("the change waits", steps); got != "the change waits: signalbox approve 3; or look: signalbox doctor" {
		t.Errorf("it says %q", got)
	}
}

func TestAShellReadsALineAsItIsMeant(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"plain", "a b", "", "it's", `"$HOME"`, "`id`", `back\slash`, "a;b|c&d", "*", "~", "new\nline", "!x", "#no"}} {
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+commandline.Quote(args)).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, args) {
			t.Errorf("a shell reads %q, want %q (%v)", got, args, err)
		}
	}
}

func TestAStepOfANewerVersionIsSaidAsThatVersionSaidIt(t *testing.T) {
	t.Parallel()
	e := workflow.Error{Actions: []string{"teleport it: signalbox teleport 3"}, Next: []workflow.NextStep{{Text: "teleport it", Verb: "teleport"}}}
	if got := commandline.Lines(&e); !slices.Equal(got, e.Actions) {
		t.Errorf("it says %q", got)
	}
}

func TestADocumentHasTheLinesOfItsSteps(t *testing.T) {
	t.Parallel()
	retry := workflow.NextStep{Text: "try again", Verb: workflow.VerbRetry, Runs: []string{"3"}}
	run := workflow.Run{Error: &workflow.Error{Next: []workflow.NextStep{retry}}, Steps: []workflow.Step{{Error: &workflow.Error{Next: []workflow.NextStep{retry}}}},
		Details: workflow.Details{Blocked: &workflow.Blocked{Next: &retry}}}
	data, err := json.Marshal(run, json.WithMarshalers(commandline.Published()))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), `"actions":["try again: signalbox retry 3"]`); n != 2 {
		t.Errorf("%d errors have lines: %s", n, data)
	}
	if !strings.Contains(string(data), `"suggested_action":"try again: signalbox retry 3"`) {
		t.Errorf("the block suggests nothing: %s", data)
	}
	if run.Error.Actions != nil {
		t.Error("the run itself was changed")
	}
	theirs := workflow.Blocked{SuggestedAction: "ask Ada", Next: &retry}
	if data, err = json.Marshal(theirs, json.WithMarshalers(commandline.Published())); err != nil || !strings.Contains(string(data), "ask Ada") {
		t.Errorf("what another program suggests became %s (%v)", data, err)
	}
}

func TestAScriptGetsTheArgumentsOneByOne(t *testing.T) {
	t.Parallel()
	e := workflow.Error{Next: []workflow.NextStep{{Verb: workflow.VerbReject, Runs: []string{"3"}, Blank: "what to change"}, workflow.Advice("think")}}
	data, err := json.Marshal(e, json.WithMarshalers(json.JoinMarshalers(commandline.Published(), commandline.Typed())))
	if err != nil || strings.Count(string(data), `"command":["signalbox","reject","3","what to change"]`) != 1 || strings.Count(string(data), `"command"`) != 1 {
		t.Errorf("it gets %s (%v)", data, err)
	}
}
