package livetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
)

const written = "It is written."

// Run checks what only the real program can show.
func Run(t *testing.T, name string, make Make, traits ...Trait) {
	program := installed(t, name)
	live := func(test func(*testing.T, *session)) func(*testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			s := newSession(t, program, make)
			s.unlisted(t)
			s.fences = slices.Contains(traits, Fences)
			test(t, s)
		}
	}
	t.Run("it writes a file and resumes the conversation", live(goesOn))
	t.Run("a conversation that it does not know is lost", live(func(t *testing.T, s *session) {
		server := s.serve(t, modeltest.Script{})
		task := s.task(server.URL)
		task.Conversation = &agent.Conversation{ID: "00000000-0000-4000-8000-00000000dead"}
		if strings.HasSuffix(s.program, "opencode") {
			task.Conversation.ID = "ses_0000000000000000000000dead"
		}
		s.fails(t, s.run(t, agent.Edits, task), agent.Lost)
	}))
	t.Run("a rate limit", live(fault(modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: time.Second}, agent.RateLimited)))
	t.Run("a server that fails", live(fault(modeltest.Fault{Kind: modeltest.ServerError}, agent.ModelFailed)))
	// Some agents ask again and get over it.
	t.Run("a stream that is cut", live(func(t *testing.T, s *session) {
		turn := modeltest.Say("I am going to say more than a word or two about it.")
		turn.Fault = modeltest.Fault{Kind: modeltest.Cut, Events: half}
		server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{turn}})
		result := s.run(t, agent.Edits, s.task(server.URL))
		if f := result.Failure; f != nil && f.Code != agent.Unreachable || f == nil && result.Answer != turn.Say {
			t.Errorf("Failure = %+v, answer %q\n%s", f, result.Answer, s.log.String())
		}
		s.asked(t, server)
	}))
	t.Run("a model that falls silent", live(func(t *testing.T, s *session) {
		turn := modeltest.Say("I am going to say more than a word or two about it.")
		turn.Fault = modeltest.Fault{Kind: modeltest.Stalled, Events: half}
		server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{turn}})
		s.fails(t, s.runUntilSilent(t, server), agent.Hung)
	}))
	t.Run("a limit of hours is reported or ends at the idle deadline", live(func(t *testing.T, s *session) {
		turn := modeltest.Say(written)
		turn.Fault = modeltest.Fault{Kind: modeltest.UsageLimited, RetryAfter: 3 * time.Hour}
		server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{turn}})
		result := s.runUntilSilent(t, server)
		if f := result.Failure; f == nil || f.Code != agent.UsageLimited && f.Code != agent.RateLimited {
			t.Errorf("Failure = %+v\n%s", f, s.log.String())
		}
	}))
	t.Run("what it started ends with it when it is canceled", live(cancels))
	t.Run("read-only permissions write nothing", live(denied(agent.ReadOnly, modeltest.Write("hello.txt", "hello\n"))))
	if !slices.Contains(traits, Fences) {
		// A shell in a shell: some take a command that only writes a file for an edit.
		t.Run("permissions to edit run nothing", live(denied(agent.Edits, modeltest.Run("sh -c 'echo hello >hello.txt'"))))
	}
	t.Run("a prompt of 300 KiB arrives whole", live(large))
	t.Run("it reports its version", func(t *testing.T) {
		t.Parallel()
		if version, err := make(t, program, agent.ReadOnly).Check(t.Context()); err != nil || !strings.ContainsAny(version, "0123456789") {
			t.Errorf("Check = %q, %v", version, err)
		}
	})
}

func goesOn(t *testing.T, s *session) {
	first := modeltest.Do(modeltest.Write("hello.txt", "hello\n"))
	first.Say = "I am going to write it."
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{first, modeltest.Say(written)}})
	result := s.run(t, agent.Edits, s.task(server.URL))
	if text, err := os.ReadFile(filepath.Join(s.work, "hello.txt")); err != nil || string(text) != "hello\n" {
		t.Errorf("hello.txt holds %q, %v", text, err)
	}
	if result.Failure != nil || result.Answer != written || result.Conversation == nil || result.Usage.InputTokens == 0 {
		t.Fatalf("answer %q, conversation %v\n%s", result.Answer, result.Conversation, s.log.String())
	}
	s.asked(t, server)
	// The model was asked only for the task: a title or a summary would cost money, too.
	for _, x := range server.Answers() {
		if len(x.Conversation.Tools) == 0 {
			t.Errorf("request %d is not for the work: %.200q", x.Number, x.Conversation.Prompt)
		}
	}

	again := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Say("Still there.")}})
	task := s.task(again.URL)
	task.Prompt, task.Conversation = "Is it there?", result.Conversation
	second := s.run(t, agent.Edits, task)
	if second.Failure != nil || second.Answer != "Still there." {
		t.Fatalf("answer %q\n%s", second.Answer, s.log.String())
	}
	if second.Conversation == nil || second.Conversation.ID != result.Conversation.ID {
		t.Errorf("conversation %v after %v", second.Conversation, result.Conversation)
	}
	if second.Usage.InputTokens > modeltest.DefaultUsage.Input*2 {
		t.Errorf("Usage = %+v: counted on from the first call", second.Usage)
	}
	for _, x := range again.Answers() {
		if len(x.Conversation.Tools) > 0 && !strings.Contains(string(x.Body), prompt) && x.Size == len(x.Body) {
			t.Errorf("request %d does not go on with the conversation", x.Number)
		}
	}
	s.asked(t, again)
}

func fault(f modeltest.Fault, want agent.FailureCode) func(*testing.T, *session) {
	return func(t *testing.T, s *session) {
		turn := modeltest.Say("I am going to say more than a word or two about it.")
		turn.Fault = f
		server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{turn}})
		s.fails(t, s.run(t, agent.Edits, s.task(server.URL)), want)
		s.asked(t, server)
		t.Logf("%d requests", server.Count())
	}
}

// runUntilSilent runs the agent with an idle deadline. One that fell silent before it asked the model was still starting,
// on a slow machine: it gets twice the time.
func (s *session) runUntilSilent(t *testing.T, server *modeltest.Server) agent.Result {
	t.Helper()
	for task := s.task(server.URL); ; {
		task.Idle = max(quiet, 2*task.Idle)
		if result := s.run(t, agent.Edits, task); server.Count() > 0 || task.Idle > patience {
			return result
		}
	}
}

// cancels cancels the call when the model is asked again: by then, the agent's tool has started a process that stays.
func cancels(t *testing.T, s *session) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var once sync.Once
	s.observe = func(x modeltest.Exchange) {
		if x.End == "" && len(x.Conversation.Results) > 0 {
			once.Do(cancel)
		}
	}
	fifo := filepath.Join(s.work, "alive")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(fifo, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = alive.Close() })
	last := modeltest.Say(written)
	last.Fault = modeltest.Fault{Kind: modeltest.Stalled}
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{
		modeltest.Do(modeltest.Run("setsid sh -c 'echo there >&3; exec sleep 600' 3>alive </dev/null >/dev/null 2>&1 & sleep 1")), last,
	}})
	_, err = s.make(t, s.program, agent.Everything).Run(ctx, s.task(server.URL), s)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Run = %v\n%s", err, s.log.String())
	}
	said := make([]byte, 16)
	n, err := alive.Read(said)
	if err != nil || string(said[:n]) != "there\n" {
		t.Fatalf("what the agent was to start did not: %q, %v\n%s", said[:n], err, s.log.String())
	}
	if n, err := alive.Read(said); n != 0 || err == nil {
		t.Errorf("a process of the agent is still there: %d, %v", n, err)
	}
}

// denied checks that a call is not made, and that the agent reports it. If the model isn't offered the tool, there is nothing to deny.
func denied(permissions agent.Permissions, call modeltest.Call) func(*testing.T, *session) {
	return func(t *testing.T, s *session) {
		server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(call), modeltest.Say("I could not.")}})
		result := s.run(t, permissions, s.task(server.URL))
		if _, err := os.Stat(filepath.Join(s.work, "hello.txt")); err == nil {
			t.Error("it did it")
		}
		if offered := len(server.Unexpected()) == 0; offered && len(result.Denied) == 0 && !s.fences {
			t.Errorf("it does not say what it was denied\n%s", s.log.String())
		} else if !offered {
			t.Logf("it was not offered: %s", server.Unexpected()[0].Problem)
		}
	}
}

// large sends a large prompt to a model that takes a second or two, as real ones do: Gemini CLI prints the prompt, and at its end drops output that was
// not read yet.
func large(t *testing.T, s *session) {
	turn := modeltest.Say(written)
	turn.Fault = modeltest.Fault{Kind: modeltest.Slow, Delay: time.Second / 2}
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{turn}})
	task := s.task(server.URL)
	task.Prompt = "Begin.\n" + "Ask @nobody.\n" + strings.Repeat("Ask nobody for \"more\".\n", 300<<10/23) + "That is all, dear agent."
	if result := s.run(t, agent.Edits, task); result.Failure != nil || result.Answer != written {
		t.Errorf("answer %q\n%s", result.Answer, s.log.String())
	}
	for _, x := range server.Answers() {
		if strings.HasSuffix(x.Conversation.Prompt, "That is all, dear agent.") && len(x.Conversation.Prompt) >= len(task.Prompt) {
			return
		}
	}
	t.Error("the model never saw all of the prompt")
}

func (s *session) fails(t *testing.T, result agent.Result, want agent.FailureCode) {
	t.Helper()
	if f := result.Failure; f == nil || f.Code != want {
		t.Errorf("Failure = %+v, want %s\n%s", f, want, s.log.String())
	}
}
