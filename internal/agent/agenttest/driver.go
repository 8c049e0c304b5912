package agenttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Driver is the driver of one vendor's program, for the suite.
type Driver struct {
	// Name is the name of its recordings, Conversation the id of their conversation.
	Name, Conversation string
	New                func(agent.Settings) (agent.Agent, error)
	Reader             func() agent.Reader
	// CountsOn: the program's counts are cumulative over a conversation, so Conversation.Usage is set.
	CountsOn bool
	// Asks: the driver supports the permissions agent.Ask. Dialogue is then its reader, and Model the model it is configured with, if any.
	Asks     bool
	Dialogue func() agent.Dialogue
	Model    string
}

// New adapts a driver's New, which returns its own type.
func New[A agent.Agent](of func(agent.Settings) (A, error)) func(agent.Settings) (agent.Agent, error) {
	return func(s agent.Settings) (agent.Agent, error) { return of(s) }
}

// Make returns the agent of valid settings.
func (d Driver) Make(t *testing.T, s agent.Settings) agent.Agent {
	t.Helper()
	a, err := d.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Conforms checks the driver against the port. TestMain must call Main.
func (d Driver) Conforms(t *testing.T) {
	Run(t, Harness{
		Exec:  process.Host{},
		Dir:   func(t *testing.T) string { return t.TempDir() },
		Agent: func(t *testing.T, b Behavior) agent.Agent { return d.Make(t, Fake(t, b)) },
		Asks:  d.Asks,
	})
	t.Run("a driver that cannot ask says so", func(t *testing.T) {
		t.Parallel()
		_, err := d.New(agent.Settings{Name: "a", Permissions: agent.Ask})
		if errors.Is(err, agent.ErrCannotAsk) == d.Asks {
			t.Errorf("New = %v", err)
		}
	})
	t.Run("invalid settings are refused", func(t *testing.T) {
		t.Parallel()
		if _, err := d.New(agent.Settings{Name: "a", Permissions: "some"}); err == nil {
			t.Error("it accepted unknown permissions")
		}
	})
}

// Started is the start of every program that is not really run.
var Started = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Command returns what the driver would run for a task.
func (d Driver) Command(t *testing.T, s agent.Settings, task agent.Task) process.Command {
	t.Helper()
	var got executor
	d.run(t, s, task, &got)
	return process.Command(got)
}

// CommandLine checks that the driver would run these arguments for a task, and that no key is among them.
func (d Driver) CommandLine(t *testing.T, s agent.Settings, task agent.Task, args ...string) process.Command {
	t.Helper()
	s.Program = "/opt/" + MissingProgram
	got := d.Command(t, s, task)
	want := append([]string{s.Program}, args...)
	// A shell script that prepares the program's files may come first.
	if at := len(got.Args) - len(want); at < 0 || at > 0 && got.Args[0] != "/bin/sh" || !slices.Equal(got.Args[at:], want) {
		t.Errorf("Args = %q, want %q", got.Args, want)
	}
	if task.Endpoint != nil && strings.Contains(strings.Join(got.Args, " "), task.Endpoint.Key) {
		t.Errorf("Args = %q contain the key", got.Args)
	}
	return got
}

// executor keeps the command, and runs nothing.
type executor process.Command

func (e *executor) Exec(_ context.Context, c process.Command) (process.Result, error) {
	*e = executor(c)
	return process.Result{Started: Started, Ending: process.Exited}, nil
}

func (d Driver) run(t *testing.T, s agent.Settings, task agent.Task, exec process.Executor) agent.Result {
	t.Helper()
	if task.Log == nil {
		task.Log = t.Output()
	}
	s.Name = "a"
	result, err := d.Make(t, s).Run(t.Context(), task, exec)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// WantsProvider checks that an endpoint needs a model of the form provider/model.
func (d Driver) WantsProvider(t *testing.T) {
	for _, model := range []string{"", "m1", "/m1", "anthropic/"} {
		task := agent.Task{Endpoint: &agent.Endpoint{URL: "http://127.0.0.1:1"}}
		CheckFailure(t, d.run(t, agent.Settings{Model: model, Permissions: agent.Edits}, task, &executor{}), agent.Unavailable, "provider/model")
	}
}
