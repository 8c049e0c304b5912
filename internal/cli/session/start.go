package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/wire/folder"
)

func newSessionStart(a *command.Invocation) *cobra.Command {
	var how sessions.Start
	var terminal, tmux, headless bool
	c := &cobra.Command{
		Use: "start ISSUE", Args: cobra.ExactArgs(1), ValidArgsFunction: command.Requests(a),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case tmux:
				how.Mode = session.Tmux
			case headless || !terminal && !a.Terminal:
				how.Mode = session.Headless
			default:
				how.Mode = session.Terminal
			}
			if at := a.Typist(); at != nil && how.Mode != session.Headless {
				how.Size = command.SizeOf(at)
			}
			return startSession(c.Context(), a, args[0], how)
		},
	}
	c.Flags().StringVar(&how.Agent, "agent", "", "an agent of the configuration, or a program by its path; default: the one that implements")
	c.Flags().StringVar(&how.Prompt, "prompt", "", "the agent's prompt instead of the request")
	c.Flags().BoolVar(&terminal, "terminal", false, "in a terminal of its own, even if this isn't a terminal")
	c.Flags().BoolVar(&tmux, "tmux", false, "in a window of tmux")
	c.Flags().BoolVar(&headless, "headless", false, "without a terminal, even if this is one")
	c.Flags().StringVar(&how.TmuxSocket, "tmux-socket", "", "the name of tmux's server, as in tmux -L")
	c.Flags().BoolVar(&how.Grant, "grant", false, "grant the request's exhausted budgets (limits) again")
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run the agent on this machine as you, without isolation")
	a.AddTrustFlag(c)
	c.MarkFlagsMutuallyExclusive("terminal", "tmux", "headless")
	return c
}

func startSession(ctx context.Context, a *command.Invocation, ref string, how sessions.Start) error {
	p, all, err := openToStart(ctx, a, &how)
	if err != nil {
		return err
	}
	request, err := p.Named(ctx, ref)
	if err != nil {
		return wire.Explained(err)
	}
	info, err := all.Begin(ctx, request, how)
	if err != nil {
		return showStopped(p, err)
	}
	if a.JSON {
		return a.PrintJSON(sessions.Show(&info))
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

// openToStart opens the project to start agents in it, tells a program from an agent of the configuration, and warns about the
// agent's login.
func openToStart(ctx context.Context, a *command.Invocation, how *sessions.Start) (*command.Project, *sessions.Sessions, error) {
	a.Opener.Overrides.Program = strings.Contains(how.Agent, "/")
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return p, nil, err
	}
	all, err := sessions.Ready(ctx, p.App)
	if err != nil {
		return p, nil, err
	}
	all.OnUnmerged = func(n int, needed []int) {
		p.Say(fmt.Sprintf("#%d begins with the work of %s, which is not merged yet", n, sessions.Numbers(needed)))
	}
	if a.Opener.Overrides.Program {
		how.Program, how.Agent = folder.Within(p.Dir, how.Agent), ""
	}
	if _, c, err := p.SessionAgent(how.Agent, how.Program); err == nil {
		p.WarnOfLogin(c)
	}
	return p, all, nil
}

// showStopped shows a run that stopped before its session, as "signalbox run" does; any other error stays as it is.
func showStopped(p *command.Project, err error) error {
	var stopped *sessions.StoppedError
	if !errors.As(err, &stopped) {
		return err
	}
	display.PrintEnd(p, &stopped.Run)
	return &problem.Error{Code: problem.CodeOf(command.Ended(stopped.Run.State))}
}
