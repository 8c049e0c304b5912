package sessions

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// sessionPrompt tells an agent in a session about its request.
const sessionPrompt = `You change the project in the working directory. Work only there. Do not push or open anything: what you leave in the files is
the work.

{{template "request" .}}`

// config is the configuration of a run's session; run is empty before the run is known.
func (s *Sessions) config(request forge.Request, how Start, run workflow.RunRef) (session.Config, error) {
	at := app.SessionPlace{Root: s.Root, Name: session.Name("", request.Number), Run: run, Agent: how.Agent, Program: how.Program, Unsandboxed: s.Overrides.Unsandboxed,
		Trusted: s.Trust.Standing == wire.TrustGiven, Headless: how.Mode == session.Headless, Grant: how.Grant}
	prompt := how.Prompt
	if prompt == "" {
		t, err := perform.PromptTemplate(workflow.Implementer, sessionPrompt)
		var text bytes.Buffer
		if err == nil {
			err = t.Execute(&text, struct{ Request forge.Request }{request})
		}
		if err != nil {
			return session.Config{}, fmt.Errorf("write prompt: %w", err)
		}
		prompt = text.String()
	}
	code, err := s.markerCode(&at)
	if err != nil {
		return session.Config{}, err
	}
	prompt = s.Redact.String(prompt) + "\n\n" + session.Instructions(request.Number, commandline.ShellWord(at.Reporter()), code)
	place, err := json.Marshal(at)
	if err != nil {
		return session.Config{}, fmt.Errorf("say where to run: %w", err)
	}
	c := session.Config{Issue: request.Number, Mode: how.Mode, Place: string(place), Args: []string{"agent", prompt}, Prompt: prompt, Code: code, Size: how.Size,
		Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, Secrets: s.Secrets(), Grace: app.SessionGrace, TmuxSocket: how.TmuxSocket}
	if at.Headless {
		l := wire.Limits(s.Config.Limits)
		c.Env, c.Idle, c.Total = []string{"TERM=dumb"}, time.Duration(l.AgentIdleSec)*time.Second, time.Duration(l.AgentTotalSec)*time.Second
		return c, nil
	}
	if len(prompt) > app.PromptArgument {
		return c, &problem.Error{Err: fmt.Errorf("start session of request %d: %w", request.Number, app.ErrLongPrompt), Hint: "start it with --headless, or say less with --prompt"}
	}
	return c, nil
}

// markerCode is what an agent at its own interface must print after a marker, because that interface shows the repository's files like
// the agent's words. It is empty if the agent is headless, since its driver tells them apart, and for a program without a driver.
func (s *Sessions) markerCode(at *app.SessionPlace) (string, error) {
	_, c, err := s.SessionAgent(at.Agent, at.Program)
	if _, understood := wire.VendorOf(c.Driver); err != nil || !understood || at.Headless {
		return "", err
	}
	return rand.Text()[:markerCodeLength], nil
}

// markerCodeLength is 60 bits, which no file can guess.
const markerCodeLength = 12
