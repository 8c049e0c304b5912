package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

var (
	hostileRef   = workflow.RunRef{RequestID: "RQ-20261120-042", RunID: "20261120-101112-00ff00"}
	stagePath    = store.RunDir(hostileRef) + "/stage.json"
	examplePages = regexp.MustCompile("(?ms)^```json (\\S+)\n(.*?)^```$")
)

// documented is a git repository with every document as the manual shows it.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/documents.md")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "project")
	for _, match := range examplePages.FindAllSubmatch(page, -1) {
		place(t, filepath.Join(root, string(match[1])), string(match[2]))
	}
	place(t, filepath.Join(root, store.RunDir(hostileRef), ".lock"), "")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", root, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root
}

func place(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// said is what the program prints and its exit code. Nothing it does here may take long.
func said(t *testing.T, root string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%q: %v, %v: %s", args, err, ctx.Err(), out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The table of hostile states: what is done to a valid stage.json.
var hostileStates = []struct {
	name string
	do   func(good string) string
	want string // what every refusal says
}{
	{"an empty object", func(string) string { return "{}" }, "version"},
	{"0 bytes", func(string) string { return "" }, "empty document"},
	{"NULs", func(good string) string { return strings.Repeat("\x00", len(good)) }, "invalid character"},
	{"another version", replaced(`"version": "1.0"`, `"version": "2.0"`), `unknown version: "2.0"`},
	{"no version", replaced(`"version": "1.0",`, ""), "version"},
	{"a name twice", replaced(`"state":`, `"state": "QUEUED", "state":`), "appears twice"},
	{"State", replaced(`"state":`, `"State": "DONE", "state":`), `name "State" is not "state"`},
	{"ſtate", replaced(`"state":`, `"ſtate": "DONE", "state":`), `name "ſtate" is not "state"`},
	{"two documents", func(good string) string { return good + good }, "more than one JSON value"},
	{"invalid UTF-8", replaced("Greet in", "Greet\xff in"), "UTF-8"},
	{"depth 20,000", replaced(`"state":`, `"x": `+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`, "state":`), "nested deeper"},
	{"index −1", replaced(`"current_step_index": 0`, `"current_step_index": -1`), "current_step_index -1"},
	{"index 1e309", replaced(`"current_step_index": 0`, `"current_step_index": 1e309`), "/current_step_index: not a whole number"},
	{"DONE without ended_at", func(good string) string {
		return replaced(`"ended_at": "2026-11-20T10:19:40Z"`, `"ended_at": null`)(replaced(`"state": "NEEDS_INPUT"`, `"state": "DONE"`)(good))
	}, "ended_at must be set"},
	{"a time without offset", replaced(`"updated_at": "2026-11-20T10:19:40Z"`, `"updated_at": "2026-11-20T10:19:40"`), "/updated_at: not a time"},
}

func replaced(old, by string) func(string) string {
	return func(good string) string {
		if !strings.Contains(good, old) {
			panic("nothing to replace: " + old)
		}
		return strings.Replace(good, old, by, 1)
	}
}

func TestHostileStatesAreRefusedAtEveryDoorAndLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range hostileStates {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := documented(t)
			path := filepath.Join(root, stagePath)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := c.do(string(good))
			place(t, path, text)
			refusedByStore(t, root, c.want)
			refusedByProgram(t, root, c.want)
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("stage.json was changed, %v", err)
			}
		})
	}
}

func refusedByStore(t *testing.T, root, want string) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	_, load := s.Stage(hostileRef).Load(t.Context())
	signal := s.Signal(t.Context(), hostileRef, func(g *workflow.Signals) error { g.StopRequested = true; return nil })
	_, _, open := s.OpenRun(t.Context(), hostileRef)
	_, migrate := s.Migrate(t.Context(), store.Place{Path: stagePath, Kind: store.KindStage}, true)
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("listed: %v, %v", runs, err)
	}
	for door, err := range map[string]error{"load": load, "signal": signal, "open": open, "migrate": migrate, "list": runs[0].Err} {
		if !errors.Is(err, store.ErrBroken) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), stagePath) {
			t.Errorf("%s: %v does not refuse because of %q", door, err, want)
		}
	}
}

func refusedByProgram(t *testing.T, root, want string) {
	t.Helper()
	for _, args := range [][]string{{"document", "validate", stagePath}, {"document", "migrate"}, {"status", hostileRef.RequestID},
		{"stop", hostileRef.RequestID}, {"approve", hostileRef.RequestID}} {
		if out, code := said(t, root, args...); code != 1 || !strings.Contains(out, want) || !strings.Contains(out, "stage.json") {
			t.Errorf("%q: exit code %d, does not say %q: %.600s", args, code, want, out)
		}
	}
}

func TestAStateCutAnywhereIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(filepath.Join(documented(t), stagePath))
	if err != nil {
		t.Fatal(err)
	}
	good = bytes.TrimSpace(good)
	for i := range good {
		problems := store.Validate(store.KindStage, stagePath, good[:i])
		if len(problems) != 1 || problems[0].Line < 1 || problems[0].Column < 1 {
			t.Fatalf("cut after %d bytes: %v", i, problems)
		}
	}
}

// The states of the table that are more than another text in stage.json.
func TestHostileFilesAndNeighboursOfAState(t *testing.T) {
	t.Parallel()
	t.Run("1 GB", func(t *testing.T) {
		t.Parallel()
		root := documented(t)
		if err := os.Truncate(filepath.Join(root, stagePath), 1<<30); err != nil {
			t.Fatal(err)
		}
		refusedByStore(t, root, "larger than")
		refusedByProgram(t, root, "larger than")
	})
	t.Run("a symbolic link", func(t *testing.T) {
		t.Parallel()
		root := documented(t)
		path, aside := filepath.Join(root, stagePath), filepath.Join(root, "aside.json")
		if err := errors.Join(os.Rename(path, aside), os.Symlink(aside, path)); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(aside)
		refusedByStore(t, root, "symbolic link")
		if out, code := said(t, root, "stop", hostileRef.RequestID); code != 1 || !strings.Contains(out, "symbolic link") {
			t.Errorf("exit code %d: %s", code, out)
		}
		if after, err := os.ReadFile(aside); err != nil || !bytes.Equal(before, after) {
			t.Errorf("what the link leads to was changed, %v", err)
		}
	})
	t.Run("steps other than planning.json's", func(t *testing.T) {
		t.Parallel()
		root := documented(t)
		place(t, filepath.Join(root, store.RunDir(hostileRef), "planning.json"), `{"goal_understanding": "g", "action_plan": {"steps": []}}`)
		if out, code := said(t, root, "document", "validate", stagePath); code != 1 || !strings.Contains(out, "stage.json:12:3: steps has 1 entries where planning.json has 0") {
			t.Errorf("exit code %d: %s", code, out)
		}
		s, err := store.Open(t.Context(), store.Config{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		w, run, err := s.OpenRun(t.Context(), hostileRef)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		before, _ := os.ReadFile(filepath.Join(root, stagePath))
		if err := w.Save(t.Context(), &run, "Test"); err == nil {
			t.Error("saved")
		}
		if after, _ := os.ReadFile(filepath.Join(root, stagePath)); !bytes.Equal(before, after) {
			t.Error("stage.json was changed")
		}
	})
	t.Run("year 9999 cooldown", func(t *testing.T) {
		t.Parallel()
		root := documented(t)
		path := filepath.Join(root, "state.json")
		text, _ := os.ReadFile(path)
		place(t, path, replaced("2026-11-20T10:05:00Z", "9999-12-31T23:59:59Z")(string(text)))
		if out, code := said(t, root, "document", "validate", path); code != 0 {
			t.Errorf("exit code %d: %s", code, out)
		}
		if out, _ := said(t, root, "--json", "health", "gate"); strings.Contains(out, `"until": "9999`) || !strings.Contains(out, `"decision"`) {
			t.Errorf("waits for the year 9999: %s", out)
		}
	})
	t.Run("phase 9 of pr-create", func(t *testing.T) {
		t.Parallel()
		root := documented(t)
		place(t, filepath.Join(root, "environments.json"), `{"environments": [{"env_id": "a", "branch": "b", "issue_number": 42, "status": "active", "phase": 9, "step": "pr-create"}]}`)
		if out, code := said(t, root, "env", "resume-action", "a"); code != 0 || !strings.Contains(out, "create_pr") {
			t.Errorf("exit code %d: %s", code, out)
		}
	})
}

var hostileIDs = []string{"../../x", "RQ-1/../../etc", "%2e%2e%2f", "-rf", strings.Repeat("A", 300), "/etc/passwd", "..", "a\nb", "\u202e"}

// Whatever is given for an id names nothing outside of the project.
func TestHostileIDsReachNoFile(t *testing.T) {
	t.Parallel()
	root := documented(t)
	canary := filepath.Join(filepath.Dir(filepath.Dir(root)), "x")
	outside := filepath.Dir(root)
	place(t, filepath.Join(outside, "x", "stage.json"), "canary")
	for _, id := range hostileIDs {
		for _, args := range [][]string{{"status", "--", id}, {"logs", "--", id}, {"logs", "--", hostileRef.RequestID, id}, {"stop", "--", id}, {"approve", "--", id},
			{"resume", "--", id}, {"run", "--", id}, {"issue", "set", "--", id, "running"}, {"issue", "show", "--", id}, {"issue", "remove", "--", id},
			{"env", "show", "--", id}, {"env", "remove", "--", id}, {"document", "schema", "--", id}} {
			if out, code := said(t, root, args...); code == 0 {
				t.Errorf("%q is accepted: %s", args, out)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "x", "stage.json")); err != nil || string(text) != "canary" {
		t.Errorf("the canary is %q, %v", text, err)
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Errorf("%s was made", canary)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 2 {
		t.Errorf("left outside of the project: %v", entries)
	}
}

func TestHostileArtifactsAreNotOpened(t *testing.T) {
	t.Parallel()
	root := documented(t)
	logs := filepath.Join(root, store.RunDir(hostileRef), "logs")
	place(t, filepath.Join(root, "secret"), "canary")
	if err := errors.Join(os.MkdirAll(logs, 0o755), unix.Mkfifo(filepath.Join(logs, "implementer.S01.1.log"), 0o644),
		os.Link(filepath.Join(root, "secret"), filepath.Join(logs, "implementer.S01.2.log")),
		os.Symlink("/etc/hostname", filepath.Join(logs, "implementer.S01.3.log"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"implementer.S01.1.log", "implementer.S01.2.log", "implementer.S01.3.log"} {
		if out, code := said(t, root, "logs", hostileRef.RequestID, name); code == 0 || strings.Contains(out, "canary") {
			t.Errorf("%s: exit code %d: %s", name, code, out)
		}
	}
	s, err := store.Open(t.Context(), store.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, path := range []string{"/etc/hostname", "../x", "", store.RunDir(hostileRef) + "/logs/implementer.S01.1.log", "a\x00b"} {
		if file, err := s.OpenArtifact(path); err == nil {
			_ = file.Close()
			t.Errorf("%q was opened", path)
		}
	}
	if _, err := s.Stage(workflow.RunRef{RequestID: "RQ\x00", RunID: hostileRef.RunID}).Load(t.Context()); !errors.Is(err, store.ErrName) {
		t.Errorf("NUL in an id: %v", err)
	}
}
