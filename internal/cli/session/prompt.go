package session

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// sessionPrompt is what an agent in a session is told of its request.
const sessionPrompt = `You change the project in the working directory. Work only there. Do not push or open anything: what you leave in the files is
the work.

{{template "request" .}}`

func sessionConfig(p *command.Project, request forge.Request, how sessionStart, at app.SessionPlace) (session.Config, error) {
	prompt := how.prompt
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
	code, err := markerCode(p, &at)
	if err != nil {
		return session.Config{}, err
	}
	prompt = p.Redact.String(prompt) + "\n\n" + session.Instructions(request.Number, commandline.ShellWord(at.Reporter()), code)
	place, err := json.Marshal(at)
	if err != nil {
		return session.Config{}, fmt.Errorf("say where to run: %w", err)
	}
	c := session.Config{Issue: request.Number, Mode: how.mode(p.Invocation), Place: string(place), Args: []string{"agent", prompt}, Prompt: prompt, Code: code,
		Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, Secrets: p.Secrets(), Grace: app.SessionGrace, TmuxSocket: how.tmuxSocket}
	if at.Headless {
		l := wire.Limits(p.Config.Limits)
		c.Env, c.Idle, c.Total = []string{"TERM=dumb"}, time.Duration(l.AgentIdleSec)*time.Second, time.Duration(l.AgentTotalSec)*time.Second
		return c, nil
	}
	if len(prompt) > app.PromptArgument {
		return c, &problem.Error{Err: fmt.Errorf("start session of request %d: %w", request.Number, app.ErrLongPrompt), Hint: "start it with --headless, or say less with --prompt"}
	}
	if file, ok := p.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		c.Size = command.SizeOf(file)
	}
	return c, nil
}

// markerCode is what an agent at its own interface has to print behind a marker: such an interface shows
// the repository's files like its words. Headless, its driver tells them apart. Of a program that nobody
// here understands, what it prints is all there is.
func markerCode(p *command.Project, at *app.SessionPlace) (string, error) {
	_, c, err := p.SessionAgent(at.Agent, at.Program)
	if _, understood := wire.VendorOf(c.Driver); err != nil || !understood || at.Headless {
		return "", err
	}
	return rand.Text()[:markerCodeLength], nil
}

// markerCodeLength is 60 bits: a file would have to know them beforehand.
const markerCodeLength = 12
