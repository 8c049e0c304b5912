package pipeline_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/pipeline"
)

// runsWorkflow is what matters of a workflow that runs issues.
type runsWorkflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Concurrency struct {
			Group  string
			Cancel bool `yaml:"cancel-in-progress"`
		}
		Env   map[string]string
		Steps []struct {
			Name, Uses, Run string
			Env             map[string]string
		}
	}
}

func workflows(t *testing.T) map[string]runsWorkflow {
	t.Helper()
	found := map[string]runsWorkflow{}
	for _, file := range append(pipeline.RunsOnGitHub(), pipeline.RunsOnGitea()...) {
		var w runsWorkflow
		if err := yaml.Unmarshal(file.Content, &w); err != nil {
			t.Fatal(file.Path, err)
		}
		found[file.Path] = w
	}
	return found
}

// Nothing of anyone else runs in these jobs, no text of an issue is part of a script, and each secret reaches only the steps that need it.
func TestJobsThatRunIssuesGiveNothingAway(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`^\$\{\{ github\.event\.issue\.number \}\}$`)
	secret := regexp.MustCompile(`^\$\{\{ (secrets\.[A-Z_]+)( \|\| github\.token)? \}\}$`)
	orders := "(github.event_name == 'issues' && !startsWith(github.event.label.name, 'signalbox:') || startsWith(github.event.comment.body, '/signalbox'))" // what only looks like one waits for no order
	wanted := map[string]string{
		"Check out the default branch with its history": "secrets.SIGNALBOX_TOKEN", "Install what the run needs": "",
		"Restore the run": "secrets.SIGNALBOX_STATE_KEY secrets.SIGNALBOX_TOKEN", "Run": "secrets.ANTHROPIC_API_KEY secrets.SIGNALBOX_TOKEN",
		"Save the run": "secrets.SIGNALBOX_STATE_KEY secrets.SIGNALBOX_TOKEN",
	}
	for path, w := range workflows(t) {
		job := w.Jobs["run"]
		if w.Permissions == nil || len(w.Permissions) != 0 || len(w.Jobs) != 1 || len(job.Steps) != len(wanted) {
			t.Errorf("%s begins with the permissions %v, and has %d steps", path, w.Permissions, len(job.Steps))
		}
		if job.Concurrency.Cancel || job.Concurrency.Group != "signalbox-${{ github.event.issue.number }}-${{ "+orders+" && 'orders' || github.event.comment.id }}" {
			t.Errorf("%s: %+v", path, job.Concurrency)
		}
		for name, value := range job.Env {
			if strings.Contains(value, "${{") && (name != "NUMBER" || !number.MatchString(value)) {
				t.Errorf("%s: %s is %s for all steps", path, name, value)
			}
		}
		for _, step := range job.Steps {
			if step.Uses != "" || strings.Contains(step.Run, "${{") {
				t.Errorf("%s: the step %q uses %q, or has an expression in its script", path, step.Name, step.Uses)
			}
			var has []string
			for _, name := range []string{"ANTHROPIC_API_KEY", "SIGNALBOX_STATE_KEY", "GITHUB_TOKEN", "GITEA_TOKEN"} {
				if value, there := step.Env[name]; there {
					has = append(has, secret.FindStringSubmatch(value)[1])
				}
			}
			if want, known := wanted[step.Name]; !known || strings.Join(has, " ") != want || len(has) != len(step.Env) {
				t.Errorf("%s: the step %q has %v", path, step.Name, step.Env)
			}
		}
	}
}

func TestActionlintFindsNothingInTheWorkflowThatRunsIssues(t *testing.T) {
	t.Parallel()
	for _, file := range append(pipeline.RunsOnGitHub(), pipeline.RunsOnGitea()...) {
		if out, err := actionlint(t, file.Content); err != nil {
			t.Errorf("%s: %v\n%s", file.Path, err, out)
		}
		if out, err := actionlint(t, bytes.Replace(file.Content, []byte("event.issue.number"), []byte("issue.number"), 1)); err == nil {
			t.Errorf("a wrong expression passes\n%s", out)
		}
	}
}

// The job of GitLab takes nothing of a webhook but the number of an issue, and keeps the key from the run.
func TestTheJobOfGitLabTakesOnlyANumber(t *testing.T) {
	t.Parallel()
	var file map[string]struct{ Script []string }
	if err := yaml.Unmarshal(pipeline.RunsOnGitLab()[0].Content, &file); err != nil || len(file["signalbox"].Script) != 1 {
		t.Fatal(err, file)
	}
	bin := t.TempDir()
	for name, script := range map[string]string{"git": "exit 0", "signalbox": `echo "$* ${SIGNALBOX_STATE_KEY:-without}"; [ "$2" != run ] || exit 3`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for payload, want := range map[string]string{
		`{"object_kind":"note","issue":{"iid":42},"object_attributes":{"iid":7}}`:                                                                                                                           "ci restore 42 key\nci run 42 without\nci save 42 key\nThe run needs a person: the issue says for what.\n",
		`{"object_kind":"issue","object_attributes":{"iid":6,"action":"update"},"changes":{"title":{}}}`:                                                                                                    "This event orders nothing on an issue.\n",
		`{"object_kind":"issue","object_attributes":{"iid":5,"action":"update"},"changes":{"labels":{"previous":[{"title":"bug"}],"current":[{"title":"bug"},{"title":"signalbox"}]}}}`:                     "ci restore 5 key\nci run 5 without\nci save 5 key\nThe run needs a person: the issue says for what.\n",
		`{"object_kind":"issue","object_attributes":{"iid":5,"action":"update"},"changes":{"labels":{"previous":[{"title":"signalbox"}],"current":[{"title":"signalbox"},{"title":"signalbox:running"}]}}}`: "This event orders nothing on an issue.\n",
		`{"object_kind":"note","merge_request":{"iid":42}}`:                                                                                                                                                 "This event orders nothing on an issue.\n",
		`{"object_kind":"merge_request","object_attributes":{"iid":42}}`:                                                                                                                                    "This event orders nothing on an issue.\n",
		`{"object_kind":"note","issue":{"iid":"42; touch x"}}`:                                                                                                                                              "This event orders nothing on an issue.\n",
		`{"object_kind":"note","issue":{"iid":-1}}`:                                                                                                                                                         "This event orders nothing on an issue.\n",
	} {
		event := filepath.Join(t.TempDir(), "payload")
		if err := os.WriteFile(event, []byte(payload), 0o600); err != nil {
			t.Fatal(err)
		}
		job := exec.CommandContext(t.Context(), "sh", "-e", "-c", file["signalbox"].Script[0])
		job.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TRIGGER_PAYLOAD="+event, "GITLAB_TOKEN=t", "SIGNALBOX_STATE_KEY=key",
			"CI_SERVER_URL=https://gitlab.example.com", "CI_PROJECT_URL=https://gitlab.example.com/a/b", "TMPDIR="+t.TempDir())
		if out, err := job.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s", payload, err, out)
		}
	}
}
