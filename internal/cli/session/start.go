package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/forge"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// sessionStart is how a person wants a session started.
type sessionStart struct {
	agent, prompt string
	program       string // the agent, if it is named by its path
	// terminal, tmux and headless are the modes; without one it is what fits here.
	terminal, tmux, headless bool
	tmuxSocket               string
	// grant: the request's budgets count anew.
	grant bool
	// laying is held while work is put together: what two sessions need may be the same.
	laying *sync.Mutex
}

func newSessionStart(a *command.Invocation) *cobra.Command {
	how := sessionStart{laying: &sync.Mutex{}}
	c := &cobra.Command{
		Use:   "start ISSUE",
		Short: "Start an agent in an issue's environment",
		Long: "Start an agent that works on the request with this number, in its environment, which is made if it is not there. At a\n" +
			"terminal the agent has its own interface in a terminal of its own (\"signalbox session attach\"), with --tmux in a window\n" +
			"of tmux; otherwise, and with --headless, it works without anybody. The agent is told how to say that it is done; one\n" +
			"that ends without a word is an error. While a run or another session works on the issue, it is refused (exit code 5).",
		Example: "  signalbox session start 42\n  signalbox session start 42 --headless && signalbox session wait 42\n" +
			"  signalbox session start 42 --tmux --agent codex --prompt \"only look, and say what you would do\"",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: command.Requests(a),
		RunE:              func(c *cobra.Command, args []string) error { return startSession(c.Context(), a, args[0], how) },
	}
	c.Flags().StringVar(&how.agent, "agent", "", "an agent of the configuration, or a program by its path; the usual is who implements")
	c.Flags().StringVar(&how.prompt, "prompt", "", "what the agent is told in the place of the request")
	c.Flags().BoolVar(&how.terminal, "terminal", false, "in a terminal of its own, also when this is none")
	c.Flags().BoolVar(&how.tmux, "tmux", false, "in a window of tmux")
	c.Flags().BoolVar(&how.headless, "headless", false, "without a terminal, also when this is one")
	c.Flags().StringVar(&how.tmuxSocket, "tmux-socket", "", "the name of tmux's server, as in tmux -L")
	c.Flags().BoolVar(&how.grant, "grant", false, "grant the request's budgets (limits) anew, where they are reached")
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
	a.Opener.Overrides.Program = strings.Contains(how.agent, "/")
	p, err := openForSessions(ctx, a)
	if err != nil {
		return err
	}
	request, err := p.Forge.Request(ctx, p.FromHere(ref))
	if err != nil {
		return wire.Explained(err)
	}
	how = meant(p, how)
	if _, c, err := p.SessionAgent(how.agent, how.program); err == nil {
		p.WarnOfLogin(c)
	}
	info, err := startFor(ctx, p, request, how)
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
func openForSessions(ctx context.Context, a *command.Invocation) (*command.Project, error) {
	p, err := a.OpenTrusted(ctx)
	if err == nil {
		err = p.ConfigError
	}
	if err == nil {
		_, err = p.Environments.Check(ctx)
	}
	if err == nil {
		err = app.SettleSessions(ctx, p.Store)
	}
	return p, wire.Explained(err)
}

// meant tells a program from an agent of the configuration.
func meant(p *command.Project, how sessionStart) sessionStart {
	if strings.Contains(how.agent, "/") {
		how.program, how.agent = wire.Within(p.Dir, how.agent), ""
	}
	return how
}

// startFor starts the request's session in the environment of its run, which is made as far as that.
func startFor(ctx context.Context, p *command.Project, request forge.Request, how sessionStart) (session.Info, error) {
	all, err := app.SessionsOf(p.Store)
	if err != nil {
		return session.Info{}, err
	}
	name, agent, err := p.SessionAgent(how.agent, how.program)
	if err == nil {
		err = errors.Join(how.check(), agentThere(p, name, agent))
	}
	if err == nil {
		err = freeForSession(ctx, p, request)
	}
	if err == nil {
		err = fits(p, request, how)
	}
	if err != nil {
		return session.Info{}, err
	}
	if err := maySpend(ctx, p, workflow.Run{}, request, true); err != nil {
		return session.Info{}, err
	}
	before, err := p.Store.IssueStatus(request.Number).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return session.Info{}, wire.Explained(err)
	}
	run, err := environmentFor(ctx, p, request)
	if err == nil {
		err = maySpend(ctx, p, run, request, how.grant)
	}
	if err == nil {
		err = layNeeded(ctx, p, request, &run, how.laying)
	}
	if err != nil {
		return session.Info{}, err
	}
	c, err := sessionConfig(p, request, how, app.SessionPlace{Root: p.Root, Name: session.Name("", request.Number), Run: workflow.RefOf(&run),
		Agent: how.agent, Program: how.program, Unsandboxed: p.Overrides.Unsandboxed, Trusted: p.Trust.Standing == wire.StandsGiven, Headless: how.mode(p.Invocation) == session.Headless, Grant: how.grant})
	if err != nil {
		return session.Info{}, err
	}
	c.Agent = name
	info, err := all.Start(ctx, c)
	if err == nil {
		return info, nil
	}
	if held := freeForSession(ctx, p, request); held != nil { // somebody was faster
		return session.Info{}, held
	}
	return session.Info{}, wire.Explained(errors.Join(err, notStarted(ctx, p, &c, before, err)))
}

// notStarted puts the issue's status right, which its run has left at running: it is what it was, if it
// was anything.
func notStarted(ctx context.Context, p *command.Project, c *session.Config, before registry.IssueStatus, why error) error {
	return p.Store.IssueStatus(c.Issue).Update(ctx, func(s *registry.IssueStatus) error {
		if before.Status != "" && before.Status != registry.IssueRunning {
			*s = before
			return nil
		}
		s.Set(registry.IssueError, session.Name(c.Prefix, c.Issue), redact.Line(why.Error(), 400), time.Now())
		return nil
	})
}
