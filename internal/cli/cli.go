// Package cli owns the command line: one file per command, the terminal's one
// door (Streams), and the only place where drivers are named. It shows
// documents and sends signals; it decides nothing about a run.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

// Streams is the terminal, or what stands for it.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal says that Out is one; then lines are redrawn, and Color allows colour.
	Terminal bool
	Color    bool
	// Width is the terminal's columns; 80 when it is none.
	Width func() int
	Env   func(string) string
	Dir   string
	// Clock is what the self-healing loop waits by; nil is this machine's.
	Clock func() time.Time
}

// System is the real terminal.
func System() Streams {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	terminal := term.IsTerminal(int(os.Stdout.Fd()))
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: terminal,
		Color: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Width: func() int {
			if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 20 {
				return width
			}
			return 80
		}, Env: os.Getenv, Dir: dir}
}

// console is the terminal of an invocation, or what stands for it.
type console struct {
	In              io.Reader
	Out, Err        io.Writer
	Terminal, Color bool
	Width           func() int
}

// invocation is one use of the command line.
type invocation struct {
	// console masks what is printed; bare is as it was given, for the terminal of another program.
	console
	bare console
	mask *mask
	// notices are the notifications on their way.
	notices *sync.WaitGroup
	json    bool
	openingOf
}

// openingOf lies deeper than a project's own opener, which is the same.
type (
	openingOf struct{ opening }
	opening   struct{ *wire.Opener }
)

// Main runs one command line and returns the exit code. See told for signals.
func Main(ctx context.Context, args []string, s Streams) int {
	ctx, stop := told(ctx)
	defer stop()
	ctx, endGit := git.Scope(ctx)
	defer endGit()
	a := newInvocation(s)
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	a.notices.Wait()
	a.show(err)
	return problem.CodeOf(err)
}

func newInvocation(s Streams) *invocation {
	bare := console{s.In, s.Out, s.Err, s.Terminal, s.Color, s.Width}
	a := &invocation{console: bare, bare: bare, mask: &mask{}, notices: &sync.WaitGroup{}}
	a.Out, a.Err = maskedWriter{s.Out, a.mask}, maskedWriter{s.Err, a.mask}
	a.Opener = &wire.Opener{Env: s.Env, Dir: wire.AboveClones(s.Dir), Clock: s.Clock, Warn: a.warn, Mended: a.mended, Learn: a.mask.use, Notices: a.notices, AskTrust: a.askTrust}
	return a
}

// Commands returns all commands, for what documents them.
func Commands() *cobra.Command { return newRoot(newInvocation(Streams{})) }

func newRoot(a *invocation) *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use:   "signalbox",
		Short: "Carry an issue to a merged change by driving coding agents",
		Long: "Signalbox carries a request (a file requests/*.md) to a merged change. It plans, isolates, lets your coding agent\n" +
			"work, tests exactly what it recorded, asks for your approval and merges. Kill it at any instant: it continues\n" +
			"where it was.\n\n" + exitCodes,
		Example:       "  signalbox init\n  signalbox run 42\n  signalbox status 42\n  signalbox approve 42",
		SilenceErrors: true, SilenceUsage: true,
		Version: thisBuild().String(),
		Args:    unknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			level := slog.LevelError
			if verbose {
				level = slog.LevelDebug
			}
			a.Log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
		},
	}
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log what is done to standard error")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON, one document")
	root.AddCommand(newSession(a), newReport(a))
	root.SetFlagErrorFunc(wrongFlag)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newInit(a), newTrust(a), newDoctor(a), newAgents(a), newNew(a), newRun(a), newStatus(a), newList(a), newLogs(a), newDiff(a), newWatch(a), newResume(a), newRetry(a),
		newStop(a), newApprove(a), newReject(a), newSync(a), newAnswer(a), newNote(a), newNotify(a), newDemo(a), newVersion(a), newReplayAgent(a),
		newEnv(a), newIssue(a), newHeal(a), newHealth(a), newDocument(a))
	a.complete(root)
	group(root)
	helpOfCommands(root)
	strict(root)
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
		c.Args = usage(c.Args)
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

// show prints an error and what to do about it; text from outside is cleaned.
func (a *invocation) show(err error) {
	if err == nil {
		return
	}
	var p *problem.Error
	if !errors.As(err, &p) {
		p = &problem.Error{Err: err}
	}
	if p.Err == nil { // said already
		return
	}
	_, _ = fmt.Fprintf(a.Err, "%s %s\n", a.paint(red, "error:"), redact.Clean(p.Err.Error()))
	if p.Hint != "" {
		_, _ = fmt.Fprintf(a.Err, "%s  %s\n", a.paint(bold, "hint:"), redact.Clean(p.Hint))
	}
}

func (a *invocation) print(format string, args ...any) { _, _ = fmt.Fprintf(a.Out, format, args...) }

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	bold   = "1"
	faint  = "2"
)

func (a *invocation) paint(code, text string) string {
	if !a.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func now() time.Time { return time.Now() }
