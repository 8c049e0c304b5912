// Package cli is the command line: the root command, the help, and the commands about this machine and this program. A sub-package
// holds the commands of each noun. Commands parse, call app and show the result; help/*.txt has their texts.
package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/ci"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/document"
	"signalbox/internal/cli/env"
	"signalbox/internal/cli/forge"
	"signalbox/internal/cli/heal"
	"signalbox/internal/cli/issue"
	"signalbox/internal/cli/mcp"
	"signalbox/internal/cli/run"
	"signalbox/internal/cli/serve"
	"signalbox/internal/cli/session"
	"signalbox/internal/cli/tui"
	"signalbox/internal/engine"
	"signalbox/internal/git/gitcmd"
	"signalbox/internal/problem"
	"signalbox/internal/process"
)

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, s command.Streams) int {
	ctx, stop := signalContext(ctx)
	defer stop()
	ctx, endGit := gitcmd.Scope(ctx)
	defer endGit()
	a := command.NewInvocation(s)
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	a.Notices.Wait()
	a.ShowError(err)
	return problem.CodeOf(err)
}

// signalContext returns a context that ends with a signal. Ctrl-C is the user's stop; SIGTERM and SIGHUP are interruptions: the
// machine shuts down, a service restarts, the terminal closes. A second Ctrl-C or SIGTERM ends the program at once. A second SIGHUP
// doesn't, because one often comes from both the kernel and the shell, or after SIGTERM. With nohup, SIGHUP stays ignored.
func signalContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !process.IgnoredAtStart(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		select {
		case s := <-came:
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			if s == os.Interrupt {
				cancel(context.Canceled)
			} else {
				cancel(engine.ErrInterrupted)
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(nil)
	}
}

// Commands returns all commands, for the manual pages.
func Commands() *cobra.Command { return newRoot(command.NewInvocation(command.Streams{})) }

func newRoot(a *command.Invocation) *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use:           "signalbox",
		SilenceErrors: true, SilenceUsage: true,
		Version: thisBuild().String(),
		Args:    unknownCommand,
		RunE:    tui.Alone(a),
		PersistentPreRun: func(*cobra.Command, []string) {
			level := slog.LevelError
			if verbose {
				level = slog.LevelDebug
			}
			a.Opener.Log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
		},
	}
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log what is done to standard error")
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print JSON, one document")
	root.SetFlagErrorFunc(command.WrongFlag)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(run.Commands(a)...)
	root.AddCommand(newInit(a), newTrust(a), newDoctor(a), newAgents(a), newNotify(a), newDemo(a), newVersion(a), newReport(a), newReplayAgent(a),
		session.New(a), env.New(a), issue.New(a), forge.New(a), ci.New(a), heal.New(a), heal.NewHealth(a), document.New(a), mcp.New(a, thisBuild().Version), serve.New(thisBuild().Version), tui.New(a))
	root.InitDefaultCompletionCmd()
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.title
			}
		}
	}
	root.InitDefaultHelpCmd()
	strict(root)
	fillHelp(root, helpTexts())
	return root
}

// groups are the headings of the help, each with its commands; the rest comes last.
var groups = []struct{ title, commands string }{
	{"Get started:", "demo init trust doctor agents new"},
	{"Work on requests:", "tui run watch status list logs diff cost approve reject answer note sync stop resume retry"},
	{"Sessions and environments:", "session env"},
	{"Forges:", "forge ci"},
	{"Self-healing:", "heal health"},
	{"For agents:", "mcp"},
	{"To keep it going:", "serve"},
}

// strict makes a wrong command line a usage error everywhere: cobra's groups would print their help and succeed.
func strict(parent *cobra.Command) {
	for _, c := range parent.Commands() {
		switch {
		case c.Name() == "help" && !parent.HasParent():
			c.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := parent.Find(args)
				if err != nil || found == parent {
					return unknownCommand(parent, args)
				}
				return unknownCommand(found, rest)
			}
		case c.HasSubCommands() && c.RunE == nil:
			c.Args = unknownCommand
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case c.HasSubCommands() && c.Args == nil: // it does something by itself, too
			c.Args = unknownCommand
		}
		c.Args = command.Usage(c.Args)
		strict(c)
	}
}

// unknownCommand refuses a word after a group of commands that is none of them, and suggests those with similar names.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	p := &problem.Error{Err: fmt.Errorf("%q has no command %q", c.CommandPath(), args[0]), Hint: fmt.Sprintf("see %q", c.CommandPath()+" --help"), Code: problem.Usage}
	if !c.HasParent() {
		p.Err = fmt.Errorf("there is no command %q", args[0])
	}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		p.Hint = "did you mean: " + c.CommandPath() + " " + strings.Join(near, ", "+c.CommandPath()+" ")
	}
	return p
}
