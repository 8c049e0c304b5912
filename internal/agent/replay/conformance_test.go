package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/replay"
	"signalbox/internal/process"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	work := fmt.Sprintf(`{run: [sh, -c, 'echo "$0" >&2', %q]}`, agenttest.WorkLine)
	answer := work + fmt.Sprintf(", {answer: %q}", agenttest.AnswerText)
	daemon := fmt.Sprintf("{run: [sh, -c, %q]}", agenttest.Daemon)
	actions := map[agenttest.Behavior]string{
		agenttest.Answers:  "{run: [sh, -c, cat >/dev/null]}, " + answer,
		agenttest.Silent:   "",
		agenttest.Fails:    fmt.Sprintf(`{run: [sh, -c, 'echo "$0" >&2', %q]}, {exit: 1}`, agenttest.FailLine),
		agenttest.Killed:   "{crash: SIGKILL}",
		agenttest.Hangs:    "{hang: true}",
		agenttest.Chatters: "{run: [sh, -c, while echo chatter; do sleep 0.1; done]}",
		agenttest.Floods:   fmt.Sprintf("{flood: %d}", agenttest.FloodBytes),
		agenttest.Echoes:   "{run: [cat]}",
		agenttest.Deaf:     answer,
		agenttest.Tells:    "{run: [env]}",
		agenttest.Leaves:   daemon,
		agenttest.Stays:    daemon + ", {hang: true}",
	}
	agenttest.Run(t, agenttest.Harness{
		Exec: process.Host{},
		Dir:  func(t *testing.T) string { return t.TempDir() },
		Agent: func(t *testing.T, b agenttest.Behavior) agent.Agent {
			config := configFor(t, "entries: [{do: ["+actions[b]+"]}]")
			if b == agenttest.Missing {
				config.Program = []string{"/opt/" + agenttest.MissingProgram}
			}
			return newAgent(t, config)
		},
	})
}

func configFor(t *testing.T, script string) replay.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return replay.Config{
		Name: "replay", Program: []string{program, asAgent}, Script: path,
		// The race detector sleeps for a second at the end of every program.
		Env: []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"},
	}
}

func newAgent(t *testing.T, config replay.Config) *replay.Agent {
	t.Helper()
	a, err := replay.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// play runs the script for a task in a real process, with task.Dir as it is given.
func play(t *testing.T, script string, task agent.Task) (agent.Result, string) {
	t.Helper()
	var log strings.Builder
	task.Log = &log
	result, err := newAgent(t, configFor(t, script)).Run(t.Context(), task, process.Host{})
	if err != nil {
		t.Fatal(err)
	}
	return result, log.String()
}
