package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agreement"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// project is a small git repository with its requests and the script of its agent.
type project struct {
	testing.TB
	dir string
}

// playbook carries any request out: request 7 wants greet-7.sh to say "hello 7". The first try
// of S02 fails its test and the first review finds something.
const playbook = `entries:
  - role: planner
    do:
      - answer:
          goal_understanding: A script says hello.
          selected_environment: {name: python, setup_commands: ["true"], verification: [{command: echo ok, expected_output: ok}]}
          action_plan:
            steps:
              - {step_id: S01, title: Show what is missing, phase: tdd-red, instructions: Write a failing test.}
              - {step_id: S02, title: Say hello, phase: tdd-green, instructions: Make the test pass.}
  - {role: implementer, step: S01, do: [{run: [sh, -c, 'echo "test \"\$(sh greet-$SIGNALBOX_ISSUE.sh)\" = \"hello $SIGNALBOX_ISSUE\"" >tests/$SIGNALBOX_ISSUE.sh']}, {answer: Tested.}]}
  - {role: implementer, step: S02, attempt: 1, do: [{run: [sh, -c, 'echo "echo hullo $SIGNALBOX_ISSUE" >greet-$SIGNALBOX_ISSUE.sh']}, {answer: Said.}]}
  - {role: implementer, step: S02, do: [{run: [sh, -c, 'echo "echo hello $SIGNALBOX_ISSUE" >greet-$SIGNALBOX_ISSUE.sh']}, {answer: Said again.}]}
  - {role: implementer, do: [{run: [sh, -c, 'sed -i "1i # Says hello." greet-$SIGNALBOX_ISSUE.sh']}, {answer: Commented.}]}
  - {role: reviewer, round: 1, do: [{answer: {summary: Uncommented., findings: [{file: greet.sh, text: Nothing says what it does.}]}}]}
  - {role: reviewer, do: [{answer: {summary: Good., findings: []}}]}
`

const configuration = `tests: [for test in tests/*.sh; do sh "$test" || exit 1; done]
approve: auto
max_parallel: 3
agents:
  script: {driver: replay, script: .signalbox/playbook.yaml}
`

// newProject makes a repository with the requests 1 to n. changes are pairs of
// texts to replace in the configuration and the playbook.
func newProject(t testing.TB, n int, changes ...string) *project {
	t.Helper()
	p := &project{t, projectDir(t)}
	replace := strings.NewReplacer(changes...)
	p.write(".signalbox/config.yaml", replace.Replace(configuration))
	p.write(".signalbox/playbook.yaml", replace.Replace(playbook))
	p.write("tests/base.sh", "true\n")
	for i := 1; i <= n; i++ {
		p.write(fmt.Sprintf("requests/%d.md", i), fmt.Sprintf("---\nid: RQ-20260101-%03d\nnumber: %d\ntitle: Greet number %d\n---\n\ngreet-%d.sh says hello %d.\n", i, i, i, i, i))
	}
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", "requests", "tests", ".signalbox/config.yaml") // .signalbox ignores the rest of itself
	p.git("commit", "--quiet", "-m", "Begin")
	p.agreed("python")
	return p
}

// agreed has a person's consent to the set-up that the planners of these tests answer.
func (p *project) agreed(name string) {
	p.Helper()
	root, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		p.Fatal(err)
	}
	book, err := agreement.Open(root, os.Getenv)
	if err == nil {
		s := workflow.SetUp{Name: name, Commands: []string{"true"}, Verification: []workflow.Verification{{Command: "echo ok", Expected: "ok"}}}
		err = book.Agree(agreement.SetUp, s.Content(), "written", s.Shown(), time.Now())
	}
	if err != nil {
		p.Fatal(err)
	}
}

func (p *project) write(name, content string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		p.Fatal(err)
	}
}

// git runs git in the checkout and returns what it printed.
func (p *project) git(args ...string) string {
	p.Helper()
	return p.gitWith(nil, args...)
}

func (p *project) gitWith(env []string, args ...string) string {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost",
		"GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // no sample hooks, and no second program after each commit
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// run runs signalbox to its end, which must be the exit code wanted.
func (p *project) run(want int, args ...string) string {
	p.Helper()
	c := p.start(args...)
	if got := c.wait(); got != want {
		p.Fatalf("signalbox %v: exit code %d, want %d\n%s", args, got, want, c.out)
	}
	return c.out.String()
}

// stages are the stage.json files there are, by request id; none if no run was made yet.
func (p *project) stages() map[string]workflow.Run {
	p.Helper()
	paths, err := filepath.Glob(filepath.Join(p.dir, "runs", "*", "[0-9]*", "stage.json"))
	if err != nil {
		p.Fatal(err)
	}
	all := map[string]workflow.Run{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			p.Fatal(err)
		}
		var run workflow.Run
		if err := json.Unmarshal(data, &run); err != nil {
			p.Fatalf("%s: %v\n%s", path, err, data)
		}
		if run.RunID > all[run.RequestID].RunID {
			all[run.RequestID] = run
		}
	}
	return all
}

// stage is the latest run of a request.
func (p *project) stage(n int) workflow.Run { return p.stages()[fmt.Sprintf("RQ-20260101-%03d", n)] }

// documents opens the store as a reader of its own.
func (p *project) documents() *store.Store {
	p.Helper()
	s, err := store.Open(context.Background(), store.Config{Root: p.dir})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = s.Close() })
	return s
}
