package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"signalbox/internal/app"
	"signalbox/internal/process"
)

// leaves gives the terminal to a command of signalbox until that ends.
type leaves struct{ args []string }

// foreground is a command that has the terminal.
type foreground struct {
	ctx       context.Context
	args, env []string
	in        io.Reader
	out, errs io.Writer
}

func (f *foreground) SetStdin(in io.Reader)   { f.in = in }
func (f *foreground) SetStdout(out io.Writer) { f.out = out }
func (f *foreground) SetStderr(w io.Writer)   { f.errs = w }
func (f *foreground) Run() error {
	return process.Foreground(f.ctx, f.args, f.env, f.in, f.out, f.errs)
}

// enter asks for a command: a verb of the command line, which is about the chosen run.
func (m *model) enter() tea.Cmd {
	m.ask = &ask{about: []text{{faint, m.say("command-hint")}}, input: true, then: m.command}
	return nil
}

// aboutRun are the commands whose first argument is a run, and those of groups whose only one is.
var (
	aboutRun   = []string{"status", "note", "watch"}
	ofGroups   = []string{"session", "env"}
	onTerminal = []string{"watch", "session attach", "session watch", "session start", "env enter", "new"}
)

func (m *model) command(typed string) tea.Cmd {
	verb, rest, _ := strings.Cut(strings.TrimSpace(typed), " ")
	rest = strings.TrimSpace(rest)
	c := m.card()
	does := map[string]func() tea.Cmd{
		"approve": m.approve, "reject": func() tea.Cmd { return m.rejectWith(c, rest) }, "answer": func() tea.Cmd { return m.answerWith(c, rest) },
		"stop": m.stop, "run": m.goOn, "retry": func() tea.Cmd { return m.give(c, app.Retry()) }, "resume": func() tea.Cmd { return m.give(c, app.Resume(rest == "--force")) },
		"sync": func() tea.Cmd { return m.give(c, app.Sync()) }, "diff": func() tea.Cmd { return m.open(atDiff) }, "logs": func() tea.Cmd { return m.open(atLog) },
	}
	switch do := does[verb]; {
	case verb == "":
		return nil
	case slices.Contains([]string{"q", "q!", "quit"}, verb):
		return tea.Quit
	case verb == "help":
		return m.help()
	case verb == "new" && rest != "":
		return m.writeTitled(rest)
	case do != nil && c == nil, do != nil && c.Run == nil && verb != "run":
		m.note = note{m.say("no-run"), bad}
		return nil
	case verb == "reject" && rest == "":
		return m.reject()
	case verb == "answer" && rest == "" && c.Question != nil:
		return m.answer()
	case verb == "stop" && rest == "--cancel":
		chosen := *c
		return m.confirm(func() tea.Cmd { return m.end(&chosen, true) }, m.titled(c), text{attention, m.say("sure-cancel")})
	case do != nil:
		return do()
	}
	args := append([]string{verb}, strings.Fields(rest)...)
	switch {
	case c == nil:
	case verb == "note":
		args = []string{verb, numberOf(c), rest}
	case slices.Contains(aboutRun, verb):
		args = slices.Insert(args, 1, numberOf(c))
	case slices.Contains(ofGroups, verb) && len(args) == 2 && args[1] != "list":
		args = append(args, numberOf(c))
	}
	line := strings.Join(args, " ")
	if slices.ContainsFunc(onTerminal, func(command string) bool { return line == command || strings.HasPrefix(line, command+" ") }) {
		return func() tea.Msg { return leaves{args} }
	}
	return m.commandShown(args)
}

const (
	// A command whose output is shown may take so long and print so much.
	commandLimit = 2 * time.Minute
	maxPrinted   = 1 << 20
)

// printed is what a command printed, without a terminal.
func (m *model) printed(args []string) string {
	ctx, cancel := context.WithTimeout(m.ctx, commandLimit)
	defer cancel()
	out := &bounded{}
	if err := process.Foreground(ctx, append([]string{m.Program}, args...), m.Env, strings.NewReader(""), out, out); err != nil && out.Len() == 0 {
		return fmt.Sprint(err)
	}
	return out.String()
}

// bounded keeps the beginning of what is written.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	_, _ = b.Builder.Write(p[:min(len(p), max(0, maxPrinted-b.Len()))])
	return len(p), nil
}
