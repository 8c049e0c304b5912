// Package cli puts the command line together: the root command, its help and exit codes, and the commands about this machine and
// this program. A sub-package holds the commands of each noun; all parse, call app and show.
package cli

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/cli/document"
	"signalbox/internal/cli/env"
	"signalbox/internal/cli/heal"
	"signalbox/internal/cli/issue"
	"signalbox/internal/cli/run"
	"signalbox/internal/cli/session"
	"signalbox/internal/git/gitcmd"
	"signalbox/internal/problem"
)

// Main runs one command line and returns the exit code. See told for signals.
func Main(ctx context.Context, args []string, s command.Streams) int {
	ctx, stop := told(ctx)
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

// Commands returns all commands, for what documents them.
func Commands() *cobra.Command { return newRoot(command.NewInvocation(command.Streams{})) }

func newRoot(a *command.Invocation) *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use:           "signalbox",
		SilenceErrors: true, SilenceUsage: true,
		Version: thisBuild().String(),
		Args:    unknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
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
		session.New(a), env.New(a), issue.New(a), heal.New(a), heal.NewHealth(a), document.New(a))
	root.InitDefaultCompletionCmd()
	group(root)
	helpOfCommands(root)
	strict(root)
	fillHelp(root, helpTexts())
	return root
}

// groups are the headings of the help, each with its commands; the rest comes last.
var groups = []struct{ title, commands string }{
	{"Get started:", "demo init trust doctor agents new"},
	{"Work on requests:", "run watch status list logs diff approve reject answer note sync stop resume retry"},
	{"Sessions and environments:", "session env"},
	{"Self-healing:", "heal health"},
}

func group(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}

// strict makes what is wrong with a command line an error of its own kind, in
// groups of commands too, which would print their help and succeed.
func strict(parent *cobra.Command) {
	for _, c := range parent.Commands() {
		switch {
		case c.HasSubCommands() && c.RunE == nil:
			c.Args, c.RunE = cobra.ArbitraryArgs, noSubcommand
		case c.HasSubCommands(): // it does something by itself, too
			c.Args = onlySubcommand
		}
		c.Args = command.Usage(c.Args)
		strict(c)
	}
}

// helpOfCommands makes "help" refuse what is no command.
func helpOfCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Args = func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil || found == root {
				return unknownCommand(root, args)
			}
			return onlySubcommand(found, rest)
		}
	}
}

func noSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	p := &problem.Error{Err: fmt.Errorf("%q has no command %q", c.CommandPath(), args[0]), Hint: fmt.Sprintf("see %q", c.CommandPath()+" --help"), Code: problem.Usage}
	suggest(p, c, args[0])
	return p
}

// onlySubcommand refuses words of a group that works without one.
func onlySubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return noSubcommand(c, args)
}

// unknownCommand is what root says to a first word that is no command.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	p := &problem.Error{Err: fmt.Errorf("there is no command %q", args[0]), Hint: `see "signalbox --help"`, Code: problem.Usage}
	suggest(p, root, args[0])
	return p
}

// suggest names the commands below c whose names are near the word.
func suggest(p *problem.Error, c *cobra.Command, word string) {
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(word); len(near) > 0 {
		p.Hint = "did you mean: " + c.CommandPath() + " " + strings.Join(near, ", "+c.CommandPath()+" ")
	}
}
