package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/git"
	"signalbox/internal/workflow"
)

// Whatever a run's document has of untrusted people and programs: a terminal gets no control character and no secret of it, for people and for scripts.
func TestTextsOfOthersStayTextsOnATerminal(t *testing.T) {
	const secret = "mellon-friend-of-ada-42"
	t.Setenv("ADAS_TOKEN", secret)
	root := documented(t)
	path := filepath.Join(root, stagePath)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	branch := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	shown, masked := 0, 0
	for _, text := range forgetest.Hostile {
		if len(text) > 10_000 { // its length is bounded where it is read
			text = text[:10_000]
		}
		if slug := git.Slug(text); !branch.MatchString(slug) || len(slug) > 40 {
			t.Errorf("%.60q: the branch is called %q", text, slug)
		}
		text = secret + " " + text
		var run workflow.Run
		if err := json.Unmarshal(good, &run); err != nil {
			t.Fatal(err)
		}
		run.Title, run.Progress.Message = text, text
		run.Error.Title, run.Error.Message = text, text
		run.Error.Next = []workflow.NextStep{workflow.Advice(text), {Text: text, Program: []string{"git", "diff", text}}, {Text: text, Verb: workflow.VerbReject, Runs: []string{text}, Blank: text}}
		for i := range run.Steps {
			run.Steps[i].Title, run.Steps[i].Summary = text, text
		}
		run.Signals.Notes = &text
		d := &run.Details
		d.Flags = append(d.Flags, text)
		d.Question = &workflow.Question{ID: "Q1", Kind: workflow.ChoiceQuestion, Role: workflow.Implementer, Tool: text, Subject: text, Text: text, Options: []string{text}}
		d.Evidence = append(d.Evidence, workflow.Evidence{Purpose: "unit", Commit: d.Head, Check: text, Known: []string{text}})
		d.PullRequest = &workflow.PullRequest{Number: 7, URL: text, Head: d.Head}
		document, err := json.Marshal(&run)
		if err != nil {
			t.Fatal(err)
		}
		place(t, path, string(document))
		for _, args := range [][]string{{"status", hostileRef.RequestID}, {"list"}, {"status", hostileRef.RequestID, "--json"}} {
			var out bytes.Buffer
			code := cli.Main(t.Context(), args, command.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Terminal: args[0] == "status", Width: func() int { return 100 }, Env: os.Getenv, Dir: root})
			if code == 0 {
				shown++
			}
			said := out.String()
			if strings.Contains(said, "[redacted]") {
				masked++
			}
			if forgetest.Deceives(said) || strings.Contains(said, secret) || code != 0 && !strings.Contains(said, "stage.json") {
				t.Errorf("%.60q: signalbox %s, exit code %d, printed %.1500q", text, strings.Join(args, " "), code, said)
			}
		}
	}
	if all := 3 * len(forgetest.Hostile); shown < all*9/10 || masked < all*9/10 {
		t.Errorf("of %d commands, %d showed the run, and %d masked the secret", all, shown, masked)
	}
}
