package tui

import (
	"fmt"
	"strconv"
	"strings"

	"signalbox/internal/app/board"
	"signalbox/internal/commandline"
	"signalbox/internal/language"
	"signalbox/internal/workflow"
)

var columns = map[board.Column]struct {
	name string
	tone tone
}{
	board.NeedsYou: {"column-needs", attention}, board.Working: {"column-working", heading}, board.Waiting: {"column-waiting", plain},
	board.Ready: {"column-ready", good}, board.Done: {"column-done", faint},
}

func numberOf(c *board.Card) string { return strconv.Itoa(c.Number) }

// header is the top line: how many cards each column has, or what a pane shows.
func (m *model) header() string {
	if m.view != atBoard {
		title := " " + m.pane.title
		if parts := m.pane.parts; len(parts) > 0 {
			title += fmt.Sprintf("  %d/%d %s", m.pane.at+1, len(parts), parts[m.pane.at])
		}
		return heading.paint(fit(title, m.width))
	}
	count := map[board.Column]int{}
	for _, r := range m.rows {
		if r.card != nil {
			count[r.column]++
		}
	}
	var b strings.Builder
	for i, c := range board.Columns {
		t := faint
		if count[c] > 0 {
			t = columns[c].tone
		}
		b.WriteString(" " + faint.paint(strconv.Itoa(i+1)) + " " + t.paint(m.say(columns[c].name)+" "+strconv.Itoa(count[c])) + " ")
	}
	if m.filter != "" {
		b.WriteString(" " + strong.paint("/"+m.filter))
	}
	return fit(b.String(), m.width)
}

// wide is from how many columns on the chosen card is shown beside the board.
const wide = 120

func (m *model) boardWidth() int {
	if m.width < wide {
		return m.width
	}
	return m.width * 55 / 100
}

// board draws the body of the board: exactly as many lines as it has.
func (m *model) board() []string {
	height, width := m.bodyHeight(), m.boardWidth()
	m.top = min(max(m.top, m.at-height+1), max(m.at-1, 0))
	m.top = max(0, min(m.top, len(m.rows)-height))
	lines := make([]string, height)
	for i := range lines {
		if at := m.top + i; at < len(m.rows) {
			lines[i] = m.row(&m.rows[at], at == m.at, width)
		}
	}
	if len(m.rows) == 0 && m.loaded {
		p := pane{words: true, width: width - 2}
		switch {
		case m.filter != "":
			p.add(text{plain, m.say("no-match")})
		case m.warning != "":
			p.add(text{bad, m.warning})
		default:
			p.add(text{plain, m.say("no-requests")})
		}
		for i, line := range p.shown(p.width, height) {
			lines[i] = " " + line
		}
	}
	if c := m.card(); width < m.width && c != nil {
		beside := pane{words: true, width: m.width - width - 3}
		beside.add(append([]text{m.titled(c)}, m.details(c)...)...)
		for i, line := range beside.shown(beside.width, height) {
			lines[i] = fit(lines[i], width) + faint.paint(" │ ") + line
		}
	}
	return lines
}

func (m *model) row(r *row, isChosen bool, width int) string {
	if r.card == nil {
		return strong.paint(fit(" "+m.say(columns[r.column].name), width))
	}
	c := r.card
	left := width - 2 - 7 - 5
	title := left
	if left >= 40 {
		title = left * 45 / 100
	}
	line := fmt.Sprintf("%6s ", "#"+numberOf(c)) + fit(m.line(c.Title), title-1)
	if rest := left - title; rest > 0 {
		line += " " + fit(m.summary(c), rest)
	}
	line += fmt.Sprintf("%5s", m.ago(c.Since))
	if isChosen {
		return reversed.paint(fit("› "+line, width))
	}
	return fit("  "+line, width)
}

// summary says in a line what a card is about.
func (m *model) summary(c *board.Card) string {
	r := c.Run
	switch {
	case c.Problem != "":
		return m.line(c.Problem)
	case r == nil:
		return ""
	case c.Column == board.Working:
		return m.Language.Doing(r.Details.Phase)
	case c.Column == board.NeedsYou && c.Question != nil:
		return m.line(m.say("asks-you") + ": " + c.Question.Line1())
	case c.Column == board.Done:
		return m.Language.State(r.State)
	}
	return m.line(c.Message)
}

// details say where a run is, why, and what can be done.
func (m *model) details(c *board.Card) (all []text) {
	if c == nil {
		return nil
	}
	add := func(t tone, format string, args ...any) {
		all = append(all, text{t, m.clean(fmt.Sprintf(format, args...))})
	}
	field := func(name, value string) {
		if value != "" {
			add(plain, "%s: %s", m.say(name), value)
		}
	}
	r := c.Run
	if r == nil {
		add(columns[c.Column].tone, "%s", m.say(map[bool]string{true: columns[c.Column].name, false: "not-begun"}[c.Closed || c.Problem != ""]))
		add(bad, "%s", c.Problem)
		return all
	}
	d := &r.Details
	add(columns[c.Column].tone, "%s · %s %d%% · %s", m.Language.State(r.State), d.Phase, r.Progress.Percent, m.ago(c.Since))
	add(plain, "%s", commandline.Doing(r))
	if e := r.Error; e != nil {
		add(plain, "")
		add(bad, "%s: %s", e.ReasonCode, e.Title)
		add(plain, "%s", e.Message)
	}
	if q := c.Question; q != nil {
		add(plain, "")
		for _, line := range m.asked(q) {
			add(attention, "%s", line)
		}
	}
	if len(c.Next) > 0 {
		add(plain, "")
		add(strong, "%s", m.say("what-next"))
	}
	for _, n := range c.Next {
		n.Text = m.Language.Step(n)
		add(plain, "  %s", commandline.Line(n))
	}
	for _, f := range d.Flags {
		add(attention, "  ! %s", f)
	}
	add(plain, "")
	if d.Head != "" {
		field("commit", m.Language.Say(language.OnBranch, fmt.Sprintf("%.10s", d.Head), d.Branch))
	}
	if pr := d.PullRequest; pr != nil {
		field("pull-request", pr.URL)
	}
	field("cost-and-tokens", r.SpentSoFar().String())
	for _, e := range d.Evidence[max(0, len(d.Evidence)-5):] {
		key := language.TestFailed
		if e.Passed {
			key = language.TestPassed
		}
		field("evidence", m.Language.Say(key, fmt.Sprintf("%.10s", e.Commit), e.Command+e.Check))
	}
	if notes := r.Signals.Notes; notes != nil {
		field("note", *notes)
	}
	field("run-id", r.RunID)
	add(plain, "")
	for _, s := range r.Steps {
		add(plain, "%s %s %s (+%d −%d)", marks[s.Status], s.StepID, s.Title, s.DiffStat.LinesAdded, s.DiffStat.LinesDeleted)
	}
	for _, p := range d.Phases {
		t := plain
		if p.Status == workflow.StepPending || p.Status == workflow.StepSkipped {
			t = faint
		}
		add(t, "%s %s %s", marks[p.Status], p.Step, p.Note)
	}
	return all
}

// marks are how phases and steps stand.
var marks = map[workflow.StepStatus]string{workflow.StepDone: "✓", workflow.StepRunning: "▸", workflow.StepFailed: "✗", workflow.StepSkipped: "–", workflow.StepPending: "·"}
