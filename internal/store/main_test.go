package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

// roleVariable makes the test binary play another process instead of testing.
const roleVariable = "STORE_TEST_ROLE"

// everything is a variable that makes the sweeps long. "make crash" sets it.
const everything = "SIGNALBOX_TEST_ALL"

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleVariable)]
	if !ok {
		code := m.Run()
		_ = os.RemoveAll(plainDir)
		os.Exit(code)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	s, err := Open(ctx, Config{Root: os.Args[1]})
	if err == nil {
		err = role(ctx, s, os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// another is a process of its own that plays role on the same project.
func another(t *testing.T, s *Store, role string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{s.path}, args...)...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

var (
	plainDir   string
	buildPlain = sync.OnceValues(func() (string, error) {
		var err error
		if plainDir, err = os.MkdirTemp("", "store-test-"); err != nil {
			return "", err
		}
		program := filepath.Join(plainDir, "store.test")
		if out, err := exec.Command("go", "test", "-c", "-o", program, ".").CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the test without the race detector: %w\n%s", err, out)
		}
		return program, nil
	})
)

// unobserved lets cmd run without the race detector, which sees no race between
// processes but makes each ten times slower and wait a second at its end.
func unobserved(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return cmd
	}
	program, err := buildPlain()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = program
	return cmd
}

// startUntilSaid starts cmd and returns the first line it prints. It lives until its input is closed.
func startUntilSaid(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("child said nothing: %v", err)
	}
	return strings.TrimSpace(line)
}

func sayAndStay(line string) error {
	fmt.Println(line)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func openStore(t *testing.T) *Store {
	t.Helper()
	return openAt(t, Config{Root: t.TempDir()})
}

func openAt(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var testRef = workflow.RunRef{RequestID: "RQ-1", RunID: "20261120-101112-00ff00"}

var testStart = time.Date(2026, 11, 20, 10, 11, 12, 0, time.UTC)

func newRun() workflow.Run {
	run := workflow.Run{Version: workflow.RunVersion, RequestID: testRef.RequestID, RunID: testRef.RunID,
		State: workflow.Queued, Stage: workflow.StageInit, Title: "Add a button", StartedAt: testStart, UpdatedAt: testStart,
		Artifacts: workflow.Artifacts{RequestPath: "requests/RQ-1.md", ReportMD: RunDir(testRef) + "/" + reportFile, LogsDir: RunDir(testRef) + "/" + logsDir}}
	run.Details.Number, run.Details.Transition = 1, 1
	return run
}

// createRun makes the test's run, running, and opens it.
func createRun(t *testing.T, s *Store) (*RunWriter, workflow.Run) {
	t.Helper()
	run := newRun()
	run.State = workflow.Running
	if err := s.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	return openRun(t, s)
}

func openRun(t *testing.T, s *Store) (*RunWriter, workflow.Run) {
	t.Helper()
	w, run, err := s.OpenRun(t.Context(), testRef)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w.(*RunWriter), run
}

func save(t *testing.T, w *RunWriter, run *workflow.Run) {
	t.Helper()
	run.Details.Transition++
	if err := w.Save(t.Context(), run, "Test"); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s *Store, rel string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.path, rel))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, s *Store, rel, text string) {
	t.Helper()
	name := filepath.Join(s.path, rel)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
