//go:build agents

package modeltest_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

var capture = flag.Bool("capture", false, "keep what the agents print as the new recordings")

// behavior is what the model does in one case, and how long an agent has.
type behavior struct {
	name        string
	fault       modeltest.Fault
	refused     bool // no server listens
	idle, total time.Duration
}

const (
	// patience is longer than the longest series of retries that was seen (110 s).
	patience = 4 * time.Minute
	// quiet is longer than the longest start without a word (25 s, where others start, too).
	quiet = 60 * time.Second
	// half is within the text of the first turn, in every API.
	half = 4
)

var behaviors = []behavior{
	{name: "done"},
	{name: "unauthorized", fault: modeltest.Fault{Kind: modeltest.Unauthorized}},
	{name: "rate-limited", fault: modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: time.Second}},
	{name: "rate-limited-twice", fault: modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: time.Second, Times: 2}},
	{name: "usage-limited", fault: modeltest.Fault{Kind: modeltest.UsageLimited, RetryAfter: 3 * time.Hour}, total: patience / 2},
	{name: "server-error", fault: modeltest.Fault{Kind: modeltest.ServerError}},
	{name: "overloaded", fault: modeltest.Fault{Kind: modeltest.Overloaded}},
	{name: "overflow", fault: modeltest.Fault{Kind: modeltest.Overflow}},
	// Not after some events: Gemini CLI finds an error only in a read of its own.
	{name: "overflow-in-stream", fault: modeltest.Fault{Kind: modeltest.Overflow, InStream: true}},
	{name: "stalled", fault: modeltest.Fault{Kind: modeltest.Stalled, Events: half}, idle: quiet},
	{name: "cut", fault: modeltest.Fault{Kind: modeltest.Cut, Events: half}},
	// Some go on for ever.
	{name: "ended", fault: modeltest.Fault{Kind: modeltest.Ended, Events: half}, total: quiet},
	{name: "refused", refused: true, total: patience / 2},
}

// TestLive has every agent write a file, and meet what can go wrong. How it
// ends must be what is recorded, so that a new version which does otherwise is
// found before the drivers' tests go on believing the old one.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, p := range programs {
		bin := installed(t, p.name)
		if bin == "" {
			continue
		}
		for _, b := range behaviors {
			t.Run(p.name+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				got := record(t, p, b, bin)
				if *capture {
					keep(t, got)
					return
				}
				want := modeltest.Recorded(t, p.name, b.name)
				if got.Version != want.Version || got.ExitCode != want.ExitCode || got.Ending != want.Ending || got.Wrote != want.Wrote {
					t.Errorf("%s ended %s with code %d, wrote %t;\n%s ended %s with code %d, wrote %t\n%s\n%s", got.Version, got.Ending,
						got.ExitCode, got.Wrote, want.Version, want.Ending, want.ExitCode, want.Wrote, got.Stdout, got.Stderr)
				}
			})
		}
	}
}

// installed is the agent's program, empty where it may be missing.
func installed(t *testing.T, name string) string {
	path := filepath.Join(os.Getenv("SIGNALBOX_AGENTS"), name)
	if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) {
		return path
	}
	t.Run(name, func(t *testing.T) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed: SIGNALBOX_AGENTS must name the folder that scripts/agents.sh prints", name)
		}
		t.Skipf("%s is not installed: set SIGNALBOX_AGENTS to the folder that scripts/agents.sh prints", name)
	})
	return ""
}

func keep(t *testing.T, r modeltest.Recording) {
	dir := filepath.Join("testdata", r.Agent)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, r.Case+".jsonl"), encode(t, r), 0o644); err != nil {
		t.Fatal(err)
	}
}

// model starts the model of a case, in a network that has nothing else where that may be made.
func model(t *testing.T, b behavior, dir string) (*modeltest.Server, *os.File) {
	first := modeltest.Do(modeltest.Write("hello.txt", "hello\n"))
	first.Say, first.Fault = "I am going to write the file, as you asked me to.", b.fault
	config := modeltest.Config{Script: modeltest.Script{Dir: dir, Turns: []modeltest.Turn{first, modeltest.Say("It is written.")}}}
	network, err := egress.NewNamespace(t.Context(), []string{"127.0.0.1:0"})
	if errors.Is(err, egress.ErrNotPermitted) {
		t.Log("the agent has the network of this machine:", err)
		return modeltest.Start(t, config), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.File.Close() })
	config.Listener = network.Listeners[0]
	return modeltest.Start(t, config), network.File
}

func (b behavior) command(p place, program string, args, env []string) process.Command {
	total := b.total
	if total == 0 {
		total = patience
	}
	return process.Command{Args: append([]string{program}, args...), Dir: p.work, Idle: b.idle, Total: total, OutputLimit: 8 << 20,
		Env: append([]string{"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + filepath.Join(p.home, "tmp"), "LANG=C.UTF-8"}, env...)}
}
