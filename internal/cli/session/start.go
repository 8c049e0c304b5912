package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/wire"
)

// sessionStart is how a person wants a session started, in flags.
type sessionStart struct {
	sessions.Start
	// terminal, tmux and headless are the modes; without one it is what fits here.
	terminal, tmux, headless bool
}

func newSessionStart(a *command.Invocation) *cobra.Command {
	var how sessionStart
	c := &cobra.Command{
		Use:               "start ISSUE",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: command.Requests(a),
		RunE:              func(c *cobra.Command, args []string) error { return startSession(c.Context(), a, args[0], how) },
	}
	c.Flags().StringVar(&how.Agent, "agent", "", "an agent of the configuration, or a program by its path; the usual is who implements")
	c.Flags().StringVar(&how.Prompt, "prompt", "", "what the agent is told in the place of the request")
	c.Flags().BoolVar(&how.terminal, "terminal", false, "in a terminal of its own, also when this is none")
	c.Flags().BoolVar(&how.tmux, "tmux", false, "in a window of tmux")
	c.Flags().BoolVar(&how.headless, "headless", false, "without a terminal, also when this is one")
	c.Flags().StringVar(&how.TmuxSocket, "tmux-socket", "", "the name of tmux's server, as in tmux -L")
	c.Flags().BoolVar(&how.Grant, "grant", false, "grant the request's budgets (limits) anew, where they are reached")
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run the agent on this machine as you, without isolation")
	a.AddTrustFlag(c)
	c.MarkFlagsMutuallyExclusive("terminal", "tmux", "headless")
	return c
}

func (h *sessionStart) mode(a *command.Invocation) session.Mode {
	switch {
	case h.tmux:
		return session.Tmux
	case h.headless || !h.terminal && !a.Terminal:
		return session.Headless
	}
	return session.Terminal
}

func startSession(ctx context.Context, a *command.Invocation, ref string, how sessionStart) error {
	a.Opener.Overrides.Program = strings.Contains(how.Agent, "/")
	p, all, err := openForSessions(ctx, a)
	if err != nil {
		return err
	}
	request, err := p.Forge.Request(ctx, p.FromHere(ref))
	if err != nil {
		return wire.Explained(err)
	}
	how.Mode = how.mode(a)
	if file, ok := a.In.(*os.File); ok && how.Mode != session.Headless && term.IsTerminal(int(file.Fd())) {
		how.Size = command.SizeOf(file)
	}
	info, err := all.Begin(ctx, request, meant(p, how.Start))
	var stopped *sessions.StoppedError
	if errors.As(err, &stopped) {
		return sayStopped(p, stopped)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(showSession(&info))
	}
	a.Print("started %s: %s, %s\n", info.Name, redact.Line(info.Agent, 60), info.Mode)
	next := "attach"
	if info.Mode == session.Headless {
		next = "watch"
	}
	follow := fmt.Sprintf("follow it: signalbox session %s %d", next, info.Issue)
	if info.Mode == session.Tmux {
		follow += "; or in tmux: " + strings.Join(info.TmuxArgs(), " ")
	}
	a.Say(follow)
	return nil
}

// openForSessions opens the project for whoever starts agents in it.
func openForSessions(ctx context.Context, a *command.Invocation) (*command.Project, *sessions.Sessions, error) {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return p, nil, err
	}
	all, err := sessions.Ready(ctx, p.App)
	if err == nil {
		all.OnUnmerged = func(n int, needed []int) {
			p.Say(fmt.Sprintf("#%d begins with the work of %s, which is not merged yet", n, sessions.Numbers(needed)))
		}
	}
	return p, all, err
}

// sayStopped shows a run that did not come as far as was asked, as "signalbox run" does.
func sayStopped(p *command.Project, stopped *sessions.StoppedError) error {
	display.PrintEnd(p, &stopped.Run)
	return &problem.Error{Code: problem.CodeOf(command.Ended(stopped.Run.State))}
}

// meant tells a program from an agent of the configuration, and says how it stands with the agent's login.
func meant(p *command.Project, how sessions.Start) sessions.Start {
	if strings.Contains(how.Agent, "/") {
		how.Program, how.Agent = wire.Within(p.Dir, how.Agent), ""
	}
	if _, c, err := p.SessionAgent(how.Agent, how.Program); err == nil {
		p.WarnOfLogin(c)
	}
	return how
}
