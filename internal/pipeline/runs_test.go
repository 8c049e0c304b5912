package pipeline_test

import (
	"bytes"
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
		if job.Concurrency.Cancel || job.Concurrency.Group != "signalbox-${{ github.event.issue.number }}" {
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
