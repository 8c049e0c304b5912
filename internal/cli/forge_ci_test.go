package cli_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/pipeline"
	"signalbox/internal/workflow"
)

// job runs the steps of the workflow that "ci init" writes, as GitHub's runner does, for issue 42. It returns the checkout that the job made.
func (h *hub) job() (checkout *hub, out string) {
	h.Helper()
	var w struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct {
				Name, If, Run string
				Env           map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(pipeline.RunsOnGitHub()[0].Content, &w); err != nil {
		h.Fatal(err)
	}
	temp := h.TempDir()
	variables := filepath.Join(temp, "variables")
	env := append(os.Environ(), "PATH="+filepath.Dir(program(h))+":"+os.Getenv("PATH"), "HOME="+temp, "RUNNER_TEMP="+temp, "GITHUB_ENV="+variables,
		"GITHUB_SERVER_URL="+h.URL, "GITHUB_REPOSITORY=octo-org/engine")
	values := map[string]string{"${{ github.event.issue.number }}": "42", "${{ secrets.SIGNALBOX_TOKEN || github.token }}": forgeToken,
		"${{ secrets.SIGNALBOX_STATE_KEY }}": "0123456789abcdef0123456789abcdef", "${{ secrets.ANTHROPIC_API_KEY }}": "sk-ant-only-for-the-step"}
	with := func(env []string, more map[string]string) []string {
		for name, value := range more {
			env = append(env, name+"="+cmp.Or(values[value], value))
		}
		return env
	}
	env = with(env, w.Jobs["run"].Env)
	for _, step := range w.Jobs["run"].Steps {
		command := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		command.Dir, command.Env = temp, with(env, step.Env)
		text, err := command.CombinedOutput()
		if out += string(text); err != nil {
			h.Fatalf("the step %q: %v\n%s", step.Name, err, out)
		}
		if more, err := os.ReadFile(variables); err == nil {
			env = append(env, strings.Fields(string(more))...)
		}
	}
	dir, _ := strings.CutPrefix(env[len(env)-1], "PROJECT=")
	return &hub{&project{h.TB, dir}, h.Server, nil}, out
}

// Each order on the issue is a job of its own, and all of them work on one run. Jobs that nobody ordered who may do nothing.
func TestJobsGoOnWithOneRun(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none")
	config := strings.NewReplacer("approve: auto", "approve: manual", "token: ENTRY_WORD", "token: GITHUB_TOKEN").Replace(h.git("show", "HEAD:.signalbox/config.yaml"))
	order := func(by, text string) { // a second after all that happened
		h.With(func(st *githubtest.State) { st.Now = time.Now().UTC().Add(time.Second) })
		h.Comment(42, by, text)
	}
	h.Commit("main", map[string]string{".signalbox/config.yaml": config})
	order("mallory", "/signalbox run")
	if _, out := h.job(); !strings.Contains(out, "run by mallory: refused: no write access") {
		t.Errorf("a stranger's job prints\n%s", out)
	}
	order("grace", "/signalbox run\n$(touch /tmp/evil)")
	first, _ := h.job()
	run := first.stages()["42"]
	order("mallory", "/signalbox approve")
	if j, out := h.job(); j.stages()["42"].State != workflow.NeedsInput || strings.Contains(out, "grace") {
		t.Errorf("a stranger's approval leaves it %s, and prints\n%s", j.stages()["42"].State, out)
	}
	order("grace", "/signalbox approve")
	last, _ := h.job()
	merged := last.stages()["42"]
	if merged.State != workflow.Done || merged.RunID != run.RunID || merged.Counters.ImplementerCalls != 1 || merged.Details.Approval == nil || !strings.Contains(merged.Details.Approval.By, "grace") {
		t.Errorf("run %s began, and run %s is %s after %d calls, approved %+v", run.RunID, merged.RunID, merged.State, merged.Counters.ImplementerCalls, merged.Details.Approval)
	}
	h.isMerged(42, merged.Details.Head)
	h.With(func(st *githubtest.State) {
		progress := 0
		for _, c := range st.Comments {
			if strings.Contains(c.Body, "<!-- signalbox:data {") {
				progress++
			}
		}
		if progress != 1 {
			t.Errorf("there are %d progress comments", progress)
		}
	})
	if log := last.agentLog() + first.agentLog(); strings.Contains(log, forgeToken) || strings.Contains(log, "STATE_KEY") {
		t.Errorf("the agent sees\n%s", log)
	}
	h.By(42, "write access", 1)
	h.By(42, "was not done", 0)
	if _, out := h.job(); strings.Contains(out, "refused") {
		t.Errorf("when all is done, a job prints\n%s", out)
	}
}
