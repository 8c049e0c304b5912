package cli_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/claude"
	"signalbox/internal/agent/codex"
	commandagent "signalbox/internal/agent/command"
	"signalbox/internal/agent/gemini"
	"signalbox/internal/agent/opencode"
	"signalbox/internal/agent/pi"
	"signalbox/internal/process"
)

// asked is an executor that only remembers what it was to run.
type asked struct{ command process.Command }

func (a *asked) Exec(_ context.Context, c process.Command) (process.Result, error) {
	a.command = c
	return process.Result{Ending: process.Exited}, nil
}

func TestEveryAgentHasItsOwnInterfaceAtATerminal(t *testing.T) {
	t.Parallel()
	const prompt = "--help me\nwith \"this\""
	settings := agent.Settings{Name: "x", Program: "/nowhere/agent", Model: "anthropic/m1", Permissions: agent.Everything, Args: []string{"--own"}}
	of := func(a agent.Agent, err error) agent.Agent {
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, c := range map[string]struct {
		agent   agent.Agent
		oneShot string
	}{
		"claude":   {of(claude.New(settings)), "--print"},
		"codex":    {of(codex.New(settings)), "exec"},
		"opencode": {of(opencode.New(settings)), "run"},
		"pi":       {of(pi.New(settings)), "--print"},
		"gemini":   {of(gemini.New(settings)), "--output-format=stream-json"},
		"command":  {of(commandagent.New(commandagent.Config{Name: "x", Command: []string{"/nowhere/agent", "--own"}})), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var exec asked
			task := agent.Task{Role: "implementer", Prompt: prompt, Dir: "/work", Log: io.Discard, Terminal: true,
				Endpoint: &agent.Endpoint{URL: "http://127.0.0.1:9/x", Key: "0123456789abcdefghijklmnop"}}
			result, err := c.agent.Run(t.Context(), task, &exec)
			if err != nil || result.Failure != nil {
				t.Fatalf("ended with %v, %v", result.Failure, err)
			}
			args := exec.command.Args
			if name == "claude" && !slices.Contains(args, "--setting-sources=user") {
				t.Errorf("a repository's own settings count: %q", args)
			}
			if last := args[len(args)-1]; !strings.HasSuffix(last, prompt) {
				t.Errorf("its last argument is %q, want the prompt", last)
			}
			if !slices.Contains(args, "--own") || slices.Contains(args, c.oneShot) || exec.command.Stdin != nil {
				t.Errorf("it is not started for a person: %q, input %v", args, exec.command.Stdin)
			}
		})
	}
}

// Without a mode Claude Code would decide by itself what to ask, and ask for that first of all.
func TestClaudeAsksAtItsTerminal(t *testing.T) {
	t.Parallel()
	a, err := claude.New(agent.Settings{Name: "x", Program: "/nowhere/agent", Permissions: agent.Ask})
	if err != nil {
		t.Fatal(err)
	}
	var exec asked
	task := agent.Task{Role: "implementer", Prompt: "Go.", Dir: "/work", Log: io.Discard, Terminal: true, Reports: []string{"/p/signalbox report"}}
	if result, err := a.Run(t.Context(), task, &exec); err != nil || result.Failure != nil {
		t.Fatalf("ended with %v, %v", result.Failure, err)
	}
	args := exec.command.Args
	if !slices.Contains(args, "--permission-mode=default") || !slices.Contains(args, "--allowedTools=Bash(/p/signalbox report:*)") ||
		slices.Contains(args, "--permission-prompt-tool=stdio") || slices.Contains(args, "--input-format=stream-json") {
		t.Errorf("it is started with %q", args)
	}
}
