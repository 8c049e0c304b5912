// Package livetest runs the real agents' programs through their drivers, with
// a scripted model in a network that has nothing else. It takes minutes: drivers call it from tests
// with the build tag "agents", with SIGNALBOX_AGENTS set to the folder that
// scripts/agents.sh prints.
package livetest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

const (
	// patience is longer than the longest series of retries seen (110 s), also on a slow machine.
	patience = 10 * time.Minute
	// quiet is longer than the longest silent start seen (25 s, with others starting at the same time).
	quiet = 60 * time.Second
	key   = "sk-scripted-key"
	// prompt is the prompt of most tests.
	prompt = "Write the file hello.txt."
	// half is within the text of an answer, in every API.
	half = 4
)

// Make makes the driver of a program with these permissions.
type Make func(t *testing.T, program string, permissions agent.Permissions) agent.Agent

// With adapts a driver's New, for a model.
func With[A agent.Agent](of func(agent.Settings) (A, error), model string) Make {
	return func(t *testing.T, program string, permissions agent.Permissions) agent.Agent {
		t.Helper()
		a, err := of(agent.Settings{Name: filepath.Base(program), Program: program, Model: model, Permissions: permissions,
			Env: []string{pathOf(program)}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// Speaks checks the API in which a driver's program speaks to its model.
func Speaks(t *testing.T, name string, api modeltest.API, make Make) {
	s := newSession(t, installed(t, name), make)
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Write("hello.txt", "hello\n")), modeltest.Say(written)}})
	if result := s.run(t, agent.Edits, s.task(server.URL)); result.Failure != nil || result.Answer != written {
		t.Errorf("answer %q\n%s", result.Answer, s.log.String())
	}
	for _, x := range server.Answers() {
		if x.Conversation.API != api {
			t.Errorf("request %d is one of %s, want %s", x.Number, x.Conversation.API, api)
		}
	}
	s.asked(t, server)
}

// Trait is a difference between one program and most others.
type Trait string

// Fences: it asks for no permission, but runs commands in a sandbox of its own and does not report what that prevents.
const Fences Trait = "fences"

// Killable: AsksAfterKill checks its resumed conversations, after a kill and after a good end, so Asks doesn't.
const Killable Trait = "killable"

// Minutely: it names its record of a conversation by the minute, so resuming a conversation within a minute of its start or its last resumption
// overwrites the record.
const Minutely Trait = "minutely"

func installed(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(os.Getenv("SIGNALBOX_AGENTS"), name)
	if _, err := os.Stat(program); err != nil || !filepath.IsAbs(program) {
		t.Fatalf("%s is not installed: SIGNALBOX_AGENTS must name the folder that scripts/agents.sh prints", name)
	}
	return program
}

// pathOf returns PATH with the folder of the agents first, because it also has their Node.
func pathOf(program string) string {
	return "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")
}

// session is one HOME and one working directory of an agent.
type session struct {
	program    string
	make       Make
	home, work string
	fences     bool
	minutely   bool
	env        []string
	// network reaches the current model, and nothing else.
	network *os.File
	// observe is called with the model's requests; set it before the first call.
	observe func(modeltest.Exchange)

	mutex   sync.Mutex
	entries []agent.Entry
	log     bytes.Buffer
}

func newSession(t *testing.T, program string, make Make) *session {
	s := &session{program: program, make: make, home: t.TempDir(), work: t.TempDir(), observe: func(modeltest.Exchange) {}, env: slices.Concat(modeltest.Lean, lean(program))}
	if err := os.Mkdir(filepath.Join(s.home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// lean are variables for programs made with Node: what one start compiles serves the next, and no thread of V8's compiles ahead.
func lean(program string) []string {
	return []string{"NODE_COMPILE_CACHE=" + filepath.Join(filepath.Dir(filepath.Dir(program)), ".compiled"), "NODE_OPTIONS=--v8-pool-size=0"}
}

// unlisted gives opencode no list of models, because it takes a third of each start and the model of the test isn't in it.
func (s *session) unlisted(t *testing.T) {
	t.Helper()
	list := filepath.Join(s.home, "models.json")
	if err := os.WriteFile(list, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "OPENCODE_MODELS_PATH="+list)
}

// Exec implements process.Executor: the program reaches the model and nothing else.
func (s *session) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Network = s.network
	return process.Run(ctx, c)
}

func (s *session) serve(t *testing.T, script modeltest.Script) *modeltest.Server {
	t.Helper()
	return s.serveEach(t, func(modeltest.Conversation) modeltest.Script { return script })
}

// serveEach starts a model whose script depends on the conversation.
func (s *session) serveEach(t *testing.T, choose func(modeltest.Conversation) modeltest.Script) *modeltest.Server {
	t.Helper()
	inWork := func(c modeltest.Conversation) modeltest.Script {
		script := choose(c)
		script.Dir = s.work
		return script
	}
	network, err := egress.NewNamespace(t.Context(), []string{"127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.File.Close() })
	s.network = network.File
	return modeltest.Start(t, modeltest.Config{Choose: inWork, Observe: s.observe, Listener: network.Listeners[0]})
}

// task returns a task for the agent, with the model at url.
func (s *session) task(url string) agent.Task {
	return agent.Task{
		Key: "1-call_agent", Role: "implementer", Prompt: prompt, Dir: s.work, Log: &s.log, Transcript: func(e agent.Entry) {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			s.entries = append(s.entries, e)
		},
		Endpoint: &agent.Endpoint{URL: url, Key: key}, Total: patience, OutputLimit: 8 << 20,
		Env: append([]string{pathOf(s.program), "HOME=" + s.home, "TMPDIR=" + filepath.Join(s.home, "tmp"), "LANG=C.UTF-8"}, s.env...),
	}
}

// run calls the agent and returns the result.
func (s *session) run(t *testing.T, permissions agent.Permissions, task agent.Task) agent.Result {
	t.Helper()
	if s.minutely && task.Conversation != nil {
		<-time.After(time.Minute)
	}
	result, err := s.make(t, s.program, permissions).Run(t.Context(), task, s)
	if err != nil {
		t.Fatalf("Run: %v\n%s", err, s.log.String())
	}
	t.Logf("%s with code %d after %s: %+v, %d entries, %+v, denied %q", result.Process.Ending, result.Process.ExitCode,
		result.Process.Duration.Round(100*time.Millisecond), result.Failure, len(s.entries), result.Usage, result.Denied)
	return result
}

// asked checks the requests to the model.
func (s *session) asked(t *testing.T, server *modeltest.Server) {
	t.Helper()
	for _, x := range server.Unexpected() {
		t.Error(x.Problem)
	}
	for _, x := range server.Answers() {
		if x.Key != key {
			t.Errorf("request %d came with key %q", x.Number, x.Key)
		}
	}
	if len(server.Answers()) == 0 {
		t.Errorf("the model was never asked\n%s", s.log.String())
	}
}
