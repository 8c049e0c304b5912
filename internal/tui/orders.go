package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"signalbox/internal/app"
	"signalbox/internal/app/board"
	"signalbox/internal/language"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// ask is a question to the person, at the lower end of the screen: for a text, or for "y".
type ask struct {
	about []text
	input bool
	text  string
	// then gets the text. live, if set, hears of each change of it.
	then func(text string) tea.Cmd
	live func(text string)
}

// asks is a question that had to be prepared.
type asks struct {
	ask *ask
	err error
}

// ordered is what became of an order.
type ordered struct {
	said string
	err  error
}

const maxTyped = 4000

// typed appends text, of which only what can be seen counts.
func (a *ask) typed(text string) {
	if text = redact.Clean(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text)); a.input && len(a.text)+len(text) <= maxTyped {
		a.text += text
	}
	if a.live != nil {
		a.live(a.text)
	}
}

// answered takes a key while a question is open.
func (m *model) answered(name, typed string) tea.Cmd {
	a := m.ask
	switch {
	case name == "esc":
		a.text = ""
		a.typed("")
		m.ask = nil
	case !a.input && name == "y", a.input && name == "enter":
		m.ask = nil
		return a.then(a.text)
	case !a.input:
		m.ask = nil
	case name == "backspace" && a.text != "":
		runes := []rune(a.text)
		a.text = string(runes[:len(runes)-1])
		a.typed("")
	case name == "ctrl+u":
		a.text = ""
		a.typed("")
	default:
		a.typed(typed)
	}
	return nil
}

// shown draws the question, and says where its cursor is.
func (a *ask) shown(width, height int, l language.Language) (lines []string, x int) {
	p := pane{words: true, width: width - 2}
	p.add(a.about...)
	height = min(len(p.lines), max(height-2, 1))
	lines = append(lines, faint.paint(strings.Repeat("─", width)))
	for _, line := range p.shown(width-2, height) {
		lines = append(lines, " "+line)
	}
	if !a.input {
		return append(lines, strong.paint(fit(" "+l.Page("yes-or-no"), width))), 0
	}
	typed := a.text
	if over := ansi.StringWidth(typed) - (width - 4); over > 0 {
		typed = "…" + ansi.TruncateLeft(typed, over+1, "")
	}
	return append(lines, strong.paint("> ")+typed), 2 + ansi.StringWidth(typed)
}

// explained is an error in a line, with what to do about it.
func explained(err error) string {
	said := err.Error()
	if p := (*problem.Error)(nil); errors.As(err, &p) && p.Hint != "" {
		said += " — " + p.Hint
	}
	return said
}

// order does something in the project as it is now, which says what became of it.
func (m *model) order(do func(context.Context, *app.App) (said string, err error)) tea.Cmd {
	m.note = note{m.say("in-progress"), faint}
	return func() tea.Msg {
		ctx, p, closeProject, err := m.Open(m.ctx)
		if err != nil {
			return ordered{err: err}
		}
		defer closeProject()
		said, err := do(ctx, p)
		return ordered{said, err}
	}
}

// orderOf does something with the run of a card, unless another run of its request was begun since: its orders and questions would be taken for those
// that the person saw.
func (m *model) orderOf(c *board.Card, do func(ctx context.Context, p *app.App, run string) error) tea.Cmd {
	request, run := c.RequestID, c.RunID
	return m.order(func(ctx context.Context, p *app.App) (string, error) {
		found, err := p.Find(ctx, request)
		switch {
		case err != nil && (run != "" || !errors.Is(err, app.ErrNoRun)):
			return "", err
		case found.Ref.RunID != run:
			return "", &problem.Error{Err: errors.New(m.say("moved-on")), Code: problem.Held}
		}
		return m.say("done-order"), do(ctx, p, run)
	})
}

// give leaves an order for the run of a card.
func (m *model) give(c *board.Card, o app.Order) tea.Cmd {
	return m.orderOf(c, func(ctx context.Context, p *app.App, run string) error { return m.Starter.Give(ctx, p, run, o) })
}

// confirm asks for a "y" before an order.
func (m *model) confirm(then func() tea.Cmd, about ...text) tea.Cmd {
	m.ask = &ask{about: about, then: func(string) tea.Cmd { return then() }}
	return nil
}

func (m *model) titled(c *board.Card) text {
	return text{strong, m.line(fmt.Sprintf("#%d %s", c.Number, c.Title))}
}

// shownFiles is how many files of a change are named before it is approved.
const shownFiles = 8

// approve shows exactly the commit that an agreement is about, as the project has it now.
func (m *model) approve() tea.Cmd {
	c := *m.card()
	return func() tea.Msg {
		found, err := m.look.Find(m.ctx, c.RequestID)
		if err != nil {
			return asks{err: err}
		}
		order := app.Approve(found.Run.Details.Head)
		if err := order.May(&found.Run); err != nil {
			return asks{err: err}
		}
		c.RunID = found.Run.RunID
		change, err := m.look.Change(m.ctx, &found.Run)
		if err != nil {
			return asks{err: err}
		}
		about := []text{m.titled(&c), {attention, m.say("approves-exactly") + ":"}, {strong, change.Head}}
		added, deleted := 0, 0
		for i, f := range change.Files {
			if i < shownFiles {
				about = append(about, text{plain, fmt.Sprintf("  %s +%d −%d", f.Path, f.Added, f.Deleted)})
			}
			added, deleted = added+max(0, f.Added), deleted+max(0, f.Deleted)
		}
		about = append(about, text{plain, m.say("moved-patch", len(change.Files), added, deleted) + " → " + m.line(found.Run.Details.Base)})
		for _, flag := range found.Run.Details.Flags {
			about = append(about, text{attention, "! " + m.line(flag)})
		}
		return asks{ask: &ask{about: about, then: func(string) tea.Cmd { return m.give(&c, order) }}}
	}
}

func (m *model) reject() tea.Cmd {
	c := *m.card()
	m.ask = &ask{about: []text{m.titled(&c), {attention, m.say("order-reason")}}, input: true, then: func(why string) tea.Cmd { return m.rejectWith(&c, why) }}
	return nil
}

func (m *model) rejectWith(c *board.Card, why string) tea.Cmd {
	if strings.TrimSpace(why) == "" {
		return nil
	}
	give := m.give(c, app.Reject(why))
	return func() tea.Msg {
		done := give()
		if o, ok := done.(ordered); ok && o.err == nil {
			return ordered{said: m.say("sent-back")}
		}
		return done
	}
}

// asked are the lines of a question to the person.
func (m *model) asked(q *workflow.Question) []string {
	lines := []string{m.say("who-asks", string(q.Role)), strings.TrimPrefix(q.Tool+": "+q.Text, ": ")}
	for i, option := range q.Options {
		lines = append(lines, fmt.Sprintf("  %d. %s", i+1, option))
	}
	if q.Altered {
		lines = append(lines, m.say("altered"))
	}
	return lines
}

func (m *model) answer() tea.Cmd {
	c := *m.card()
	about := []text{m.titled(&c)}
	for _, line := range m.asked(c.Question) {
		about = append(about, text{attention, m.clean(line)})
	}
	how := map[workflow.QuestionKind]string{workflow.PermissionQuestion: "answer-permission", workflow.ChoiceQuestion: "answer-choice", workflow.TextQuestion: "answer-text"}
	about = append(about, text{plain, m.say(how[c.Question.Kind])})
	m.ask = &ask{about: about, input: true, then: func(typed string) tea.Cmd { return m.answerWith(&c, typed) }}
	return nil
}

func (m *model) answerWith(c *board.Card, typed string) tea.Cmd {
	q := c.Question
	if q == nil || strings.TrimSpace(typed) == "" {
		return nil
	}
	answer, given := app.TypedAnswer(q, strings.TrimSpace(typed))
	if !given {
		m.note = note{m.say("no-answer"), bad}
		return nil
	}
	return m.orderOf(c, func(ctx context.Context, p *app.App, run string) error {
		asking, err := p.Asking(ctx, run, q.ID)
		if err == nil && asking.Session { // the card showed the run's question, whose number is no other's
			err = &problem.Error{Err: errors.New(m.say("moved-on")), Code: problem.Held}
		}
		if err == nil {
			_, _, err = asking.Give(ctx, answer, "")
		}
		return err
	})
}

func (m *model) stop() tea.Cmd {
	c := *m.card()
	return m.confirm(func() tea.Cmd { return m.end(&c, false) }, m.titled(&c), text{attention, m.say("sure-stop")})
}

func (m *model) end(c *board.Card, forGood bool) tea.Cmd {
	return m.orderOf(c, func(ctx context.Context, p *app.App, run string) error { return m.Starter.Stop(ctx, p, run, forGood) })
}

// goOn begins a run, resumes it or tries again. Only the first asks, since a person may have chosen the wrong card.
func (m *model) goOn() tea.Cmd {
	c := *m.card()
	switch {
	case c.Run == nil, c.Run.State == workflow.Canceled:
		return m.confirm(func() tea.Cmd { return m.begin(&c) }, m.titled(&c), text{attention, m.say("sure-run")})
	case c.Interrupted:
		return m.begin(&c)
	case c.Run.State == workflow.Failed:
		return m.give(&c, app.Retry())
	}
	return m.give(&c, app.Resume(false))
}

func (m *model) begin(c *board.Card) tea.Cmd {
	request := c.RequestID
	return m.orderOf(c, func(ctx context.Context, p *app.App, _ string) error {
		_, err := m.Starter.Run(ctx, p, request)
		return err
	})
}

// write asks for a new request; without a title, the person's editor does.
func (m *model) write() tea.Cmd {
	m.ask = &ask{about: []text{{strong, m.say("new-request")}, {plain, m.say("new-title")}}, input: true, then: m.writeTitled}
	return nil
}

func (m *model) writeTitled(title string) tea.Cmd {
	if strings.TrimSpace(title) == "" {
		return func() tea.Msg { return leaves{[]string{"new"}} }
	}
	return m.order(func(ctx context.Context, p *app.App) (string, error) {
		request, err := p.NewRequest(ctx, title, "")
		return m.say("request-opened", request.Number), err
	})
}

// search filters the board while the person types.
func (m *model) search() tea.Cmd {
	m.ask = &ask{about: []text{{plain, m.say("search-hint")}}, input: true, text: m.filter, then: func(string) tea.Cmd { return nil }, live: func(typed string) {
		m.filter = typed
		m.arrange()
	}}
	return nil
}
