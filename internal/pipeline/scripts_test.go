package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/process/processtest"
)

// script runs one of the action's scripts, perhaps with a word for it, as a runner would, in a folder, with the file for its outputs.
func script(t *testing.T, name, dir string, env ...string) (outputs, log string, err error) {
	t.Helper()
	written := filepath.Join(t.TempDir(), "outputs")
	if err := os.WriteFile(written, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name, args, _ := strings.Cut(name, " ")
	path, err := filepath.Abs(filepath.Join("github/.github/actions/signalbox-heal", name))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "bash", append([]string{path}, strings.Fields(args)...)...)
	c.Dir, c.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "GITHUB_OUTPUT=" + written}, env...)
	said, err := c.CombinedOutput()
	outputsText, readErr := os.ReadFile(written)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(outputsText), string(said), err
}

// script runs one that asks the hub.
func (h *hub) script(name, dir string, env ...string) (outputs, log string, err error) {
	h.t.Helper()
	return script(h.t, name, dir, append([]string{"GITHUB_API_URL=" + h.URL, "GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=" + repository,
		"GITHUB_REF_NAME=main", "GITHUB_RUN_ID=" + thisRun, "TOKEN=" + apiToken}, env...)...)
}

func TestOnlyTheBranchsLastSaveIsTheState(t *testing.T) {
	t.Parallel()
	h, start := newHub(t), time.Now().Add(-time.Hour)
	for i := range 250 {
		h.add(saved{run: i, branch: "main", created: start.Add(time.Duration(i) * time.Second)})
	}
	h.add(saved{run: 700, branch: "main", fork: true, created: start.Add(time.Minute * 50)})
	h.add(saved{run: 800, branch: "feature", created: start.Add(time.Minute * 51)})
	h.add(saved{run: 801, branch: "main", created: start.Add(time.Minute * 52), workflow: 8, event: "issue_comment"})
	h.add(saved{run: 802, branch: "main", created: start.Add(time.Minute * 53), event: "pull_request_target"})
	for _, order := range []struct {
		name  string
		pages int
	}{{"newest first", 1}, {"oldest first", 3}} {
		h.pages = 0
		outputs, log, err := h.script("find.sh", t.TempDir(), "PERSON=nothing")
		if want := "state=restored\nrun=249\nrenew=false\n"; err != nil || outputs != want || h.pages != order.pages {
			t.Errorf("%s: outputs %q after %d pages, %v\n%s", order.name, outputs, h.pages, err, log)
		}
		slices.Reverse(h.artifacts)
	}
}

func TestAStateThatIsGoneIsNoFirstRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		have    func(*hub)
		outputs string
		says    string
	}{
		"nothing ever succeeded": {func(*hub) {}, "state=first-run\n", "This is the first run"},
		"only a fork saved one": {func(h *hub) { h.add(saved{run: 1, branch: "main", fork: true, created: time.Now()}) },
			"state=first-run\n", "This is the first run"},
		"only another workflow saved one": {func(h *hub) { h.add(saved{run: 1, branch: "main", workflow: 8, created: time.Now()}) },
			"state=first-run\n", "This is the first run"},
		"it was deleted": {func(h *hub) { h.succeeded = 12 }, "", "Its artifact is missing, although earlier runs saved one"},
		"the newest has expired": {func(h *hub) { h.add(saved{run: 5, branch: "main", created: time.Now(), expired: true}) },
			"", "Its artifact, of run 5, has expired"},
		"GitHub does not answer": {func(h *hub) { h.down = true }, "", "501"},
		"GitHub does not tell of its run": {func(h *hub) {
			h.add(saved{run: 5, branch: "main", created: time.Now()})
			h.silent = "/runs/5"
		}, "", "501"},
		"it will expire": {func(h *hub) { h.add(saved{run: 5, branch: "main", created: time.Now().Add(-49 * time.Hour)}) },
			"state=restored\nrun=5\nrenew=true\n", "run 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			c.have(h)
			outputs, log, err := h.script("find.sh", t.TempDir(), "PERSON=nothing")
			if outputs != c.outputs || (err == nil) != (c.outputs != "") || !strings.Contains(log, c.says) || strings.Contains(log, apiToken) {
				t.Errorf("outputs %q, %v\n%s", outputs, err, log)
			}
		})
	}
}

func TestWithoutSignalboxTheActionSaysWhatToSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := processtest.WriteProgram(filepath.Join(dir, "signalbox"), []byte("#!/bin/sh\necho version 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, program := range map[string]string{"": "", "no-such-program": "", dir: "", dir + "/missing": "", "example.org/cmd/signalbox@latest": "",
		"example.org/cmd/signalbox@v1.2.3;id": "", "-v/x@v1.2.3": "", dir + "/signalbox": dir + "/signalbox", "signalbox": dir + "/signalbox"} {
		outputs, log, err := script(t, "program.sh", dir, "SIGNALBOX="+from, "RUNNER_TEMP="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
		if program == "" && (err == nil || outputs != "" || !strings.Contains(log, "Set SIGNALBOX in .github/workflows/signalbox-heal.yml")) ||
			program != "" && (err != nil || outputs != fmt.Sprintf("program=%s\n", program)) {
			t.Errorf("SIGNALBOX=%s: outputs %q, %v\n%s", from, outputs, err, log)
		}
	}
}

func TestOnlyDocumentsAreTakenFromAnArtifact(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"a link":      func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "state.json.bak")) },
		"a folder":    func(dir string) error { return os.Mkdir(filepath.Join(dir, "state.json.bak"), 0o700) },
		"a huge file": func(dir string) error { return os.Truncate(filepath.Join(dir, "state.json"), 1<<24+1) },
		"no state":    func(dir string) error { return os.Remove(filepath.Join(dir, "state.json")) },
	} {
		from := t.TempDir()
		if err := os.WriteFile(filepath.Join(from, "state.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(from); err != nil {
			t.Fatal(err)
		}
		_, log, err := script(t, "take.sh", t.TempDir(), "RUN=5", "DOWNLOAD=success", "FROM="+from, "PERSON=nothing")
		if err == nil || !strings.Contains(log, "of run 5") {
			t.Errorf("%s: %v\n%s", name, err, log)
		}
	}
}
