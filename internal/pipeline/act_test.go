package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/pipeline"
	"signalbox/internal/process/processtest"
)

// site is a project with our files, the forge that it lies on, and a pass that
// the test decides.
type site struct {
	*testing.T
	*hub
	origin, dir, home string
	runs              int // of the workflow
}

// aPass replaces only "signalbox heal --unattended"; everything else runs the real program.
const aPass = `#!/bin/sh
[ "$*" = "heal --unattended" ] || exec "$TEST_SIGNALBOX" "$@"
set -e
`

const (
	theRealPass = `#!/bin/sh
exec "$TEST_SIGNALBOX" "$@"
`
	repairs = aPass + `"$TEST_SIGNALBOX" health record error-detected --error-id e1 --summary refused
echo mended >shop.txt
git commit --quiet --all --message "Mend the shop"
"$TEST_SIGNALBOX" health record fix-succeeded
`
	fails = aPass + `echo "::error::from what was looked at"
"$TEST_SIGNALBOX" health record error-detected --error-id e1 --summary refused
"$TEST_SIGNALBOX" health record fix-failed
exit 4
`
)

// settings are the settings of a real pass.
const settings = `approve: auto
tests: test -s shop.txt
agents: {mender: {driver: command, command: [sh, mend.sh]}}
roles: {implementer: mender, planner: none, reviewer: none, repairer: none}
health: {checks: [{id: shop, kind: command, command: grep mended shop.txt}]}
`

func newSite(t *testing.T, files []pipeline.File, pass string) *site {
	t.Helper()
	s := &site{T: t, hub: newHub(t), dir: t.TempDir(), home: t.TempDir()}
	s.origin = filepath.Join(s.home, "origin.git")
	noted := filepath.Join(s.home, "bin", "bash")
	if err := os.Mkdir(filepath.Dir(noted), 0o700); err != nil {
		t.Fatal(err)
	}
	// act ends a step that fails before it has read all that the step said.
	if err := processtest.WriteProgram(noted, []byte("#!/bin/bash\n/bin/bash \"$@\" 2>&1 | tee -a '"+s.said()+"'\nexit \"${PIPESTATUS[0]}\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.git("init", "--quiet", "--bare", "--initial-branch=main", s.origin)
	s.git("clone", "--quiet", s.origin, s.dir)
	s.git("checkout", "--quiet", "-b", "main")
	for _, file := range files {
		// A setting that a person may change.
		s.write(file.Path, strings.Replace(string(file.Content), "SIGNALBOX: signalbox\n", "SIGNALBOX: tools/signalbox\n", 1))
	}
	s.write("shop.txt", "broken\n")
	s.write(".gitignore", "/.signalbox/*\n!/.signalbox/config.yaml\n")
	s.write("tools/signalbox", pass)
	s.write("mend.sh", "echo mended >shop.txt\n")
	s.write(".signalbox/config.yaml", settings)
	s.git("add", "--all")
	s.git("commit", "--quiet", "--message", "A shop")
	s.git("push", "--quiet", "origin", "main")
	return s
}

func (s *site) write(name, content string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.Fatal(err)
	}
	if err := processtest.WriteProgram(path, []byte(content), 0o777); err != nil {
		s.Fatal(err)
	}
}

func (s *site) git(args ...string) string {
	s.Helper()
	c := exec.CommandContext(s.Context(), "git", args...)
	c.Dir, c.Env = s.dir, s.environ()
	out, err := c.CombinedOutput()
	if err != nil {
		s.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *site) environ() []string {
	return []string{"PATH=" + filepath.Join(s.home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost"}
}

// said is the file of everything that steps said.
func (s *site) said() string { return filepath.Join(s.home, "said") }

// ran is act's report on a workflow.
type ran struct {
	jobs map[string]string // results; a job that was skipped has none
	log  string
}

// act runs the workflow as GitHub would for an event.
func (s *site) act(event string, payload map[string]any) ran {
	s.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		s.Fatal(err)
	}
	s.runs++
	eventPath := filepath.Join(s.home, "event.json")
	if err := os.WriteFile(eventPath, body, 0o600); err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(s.Context(), runner(s.T, "act"), s.actArguments(event, eventPath)...)
	c.Env = s.environ()
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	failed := c.Run() != nil
	r := ran{jobs: map[string]string{}}
	for line := range bytes.Lines(out.Bytes()) {
		var said struct{ JobID, JobResult, Msg string }
		if err := json.Unmarshal(line, &said); err != nil {
			s.Fatalf("act said %q: %v\n%s", line, err, &errOut)
		}
		if said.JobResult != "" {
			r.jobs[said.JobID] = said.JobResult
		}
		r.log += strings.TrimSuffix(said.Msg, "\n") + "\n"
	}
	said, err := os.ReadFile(s.said())
	if err != nil && !os.IsNotExist(err) { // no step began
		s.Fatal(err)
	}
	r.log += string(said)
	if failed != slices.Contains(slices.Collect(maps.Values(r.jobs)), "failure") {
		s.Fatalf("act failed: %v, and its jobs ended as %v\n%s%s", failed, r.jobs, r.log, &errOut)
	}
	return r
}

// run is the id of the workflow's run: 900 for the first.
func (s *site) run() string { return fmt.Sprint(899 + s.runs) }

func (s *site) actArguments(event, eventPath string) []string {
	s.Helper()
	program, err := signalbox()
	if err != nil {
		s.Fatal(err)
	}
	stand, err := filepath.Abs("testdata/actions")
	if err != nil {
		s.Fatal(err)
	}
	args := []string{event, "--eventpath", eventPath, "--directory", s.dir, "--defaultbranch", "main", "--json", "--platform", "ubuntu-latest=-self-hosted",
		"--action-cache-path", filepath.Join(s.home, "cache"), "--use-new-action-cache", "--no-cache-server", "--no-skip-checkout", "--secret", "GITHUB_TOKEN=" + apiToken}
	for _, action := range actions(s.T) {
		name, _, _ := strings.Cut(action, "@")
		args = append(args, "--local-repository", action+"="+filepath.Join(stand, filepath.Base(name)))
	}
	for _, pair := range [][2]string{{"GITHUB_API_URL", s.URL}, {"GITHUB_REPOSITORY", repository}, {"GITHUB_RUN_ID", s.run()}, {"TEST_SERVICE", s.URL},
		{"TEST_ORIGIN", s.origin}, {"TEST_SIGNALBOX", program}} {
		args = append(args, "--env", pair[0]+"="+pair[1])
	}
	return args
}
