package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"signalbox/internal/redact"
)

// tone is how a text is drawn: by the colours that the person's terminal has for them, and so that nothing is lost without colours.
type tone string

const (
	plain     tone = ""
	strong    tone = "1"
	faint     tone = "2"
	reversed  tone = "7"
	bad       tone = "31"
	good      tone = "32"
	attention tone = "33"
	heading   tone = "1;36"
)

func (t tone) paint(text string) string {
	if t == plain || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[m"
}

// fit returns a line that is exactly so many columns wide.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// line makes one harmless line of a text from outside.
func (m *model) line(text string) string { return m.look.Redact.Line(text, 1000) }

// clean makes a text from outside harmless.
func (m *model) clean(text string) string {
	return strings.ReplaceAll(strings.TrimRight(m.look.Redact.Text(redact.Clean(text)), "\n"), "\t", "    ")
}

// The screen is a header, the body, a line with news and a line with keys. A question takes the lower part of the body.
func (m *model) bodyHeight() int { return max(1, m.height-3) }

func (m *model) View() tea.View {
	m.drawn()
	v := tea.View{AltScreen: true, MouseMode: tea.MouseModeCellMotion, WindowTitle: "Signalbox"}
	if m.width == 0 {
		return v
	}
	lines := []string{m.header()}
	switch {
	case m.view == atBoard:
		lines = append(lines, m.board()...)
	default:
		lines = append(lines, m.pane.shown(m.width, m.bodyHeight())...)
	}
	lines = append(lines, m.news(), m.hints())
	if m.ask != nil {
		ask := *m.ask
		if ask.input {
			ask.about = append(slices.Clip(ask.about), text{faint, m.say("enter-or-esc")})
		}
		asked, x := ask.shown(m.width, m.bodyHeight(), m.Language)
		lines = append(lines[:m.height-len(asked)], asked...)
		if m.ask.input {
			v.Cursor = tea.NewCursor(x, m.height-1)
		}
	}
	v.SetContent(strings.Join(lines[:min(len(lines), m.height)], "\n"))
	return v
}

// news is what became of the last order; without one, what the chosen card is about.
func (m *model) news() string {
	n := m.note
	if n.text == "" && m.view == atBoard && m.warning != "" {
		n = note{m.warning, bad}
	}
	if c := m.card(); n.text == "" && c != nil && m.view == atBoard {
		n.text = m.summary(c)
	}
	return n.tone.paint(fit(" "+n.text, m.width))
}

// hints are the keys that do something now: as many as fit, and always how to see the others.
func (m *model) hints() string {
	line, help := "", ""
	for i := range keys {
		k := &keys[i]
		if k.where&m.view == 0 || !k.hinted || !k.may(m) || k.label == "key-attach" && !m.attaches {
			continue
		}
		hint := " " + strong.paint(k.names[0]) + " " + m.say(k.label) + " "
		if k.names[0] == "?" {
			help = hint
		} else if ansi.StringWidth(line+hint) <= m.width-ansi.StringWidth(m.say("key-keys"))-4 {
			line += hint
		}
	}
	return fit(line+help, m.width)
}

// ago says how long ago something was, in a few characters.
func (m *model) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := m.Now().Sub(t); {
	case d < time.Minute:
		return "<1m"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
}

// fail shows an error, and what to do about it.
func (m *model) fail(err error) {
	m.note = note{m.line(explained(err)), bad}
}
