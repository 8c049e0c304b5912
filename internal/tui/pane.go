package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// kept is how many lines of a text are kept; of a log, the last ones.
const kept = 10_000

// text is a piece of a pane, in one tone: clean, and of any length.
type text struct {
	tone tone
	text string
}

// pane is a text that can be scrolled. Its lines break anywhere, as in a terminal, or between words.
type pane struct {
	title string
	words bool
	// follow: the last lines are shown while more come.
	follow bool
	texts  []text
	top    int
	// parts are the files of a change or the logs of a run; at is the one that is shown, and load loads another.
	parts []string
	at    int
	load  func(part int) tea.Cmd
	// more reads what comes next, and stop ends that.
	more tea.Cmd
	stop context.CancelFunc

	width int
	lines []text // as they fit into width
}

// read is what was read for a pane.
type read struct {
	pane  *pane
	parts []string
	at    int
	texts []text
	more  tea.Cmd
	err   error
	fail  func(error)
}

// take adds what was read for this pane; for another one, it is too late.
func (p *pane) take(r read) tea.Cmd {
	if r.pane != p {
		return nil
	}
	if r.err != nil {
		r.fail(r.err)
	}
	if r.parts != nil {
		p.parts, p.at = r.parts, r.at
	}
	p.add(r.texts...)
	return r.more
}

func (p *pane) add(texts ...text) {
	p.texts = append(p.texts, texts...)
	for _, t := range texts {
		p.lines = append(p.lines, p.broken(t)...)
	}
	if over := len(p.texts) - kept; over > kept/10 {
		p.texts = slices.Clone(p.texts[over:])
		p.resize(p.width)
	}
}

// replace shows another text at the same place.
func (p *pane) replace(texts []text) {
	p.texts, p.lines = nil, nil
	p.add(texts...)
}

func (p *pane) broken(t text) (lines []text) {
	if p.width <= 0 {
		return []text{t}
	}
	whole := t.text
	if ansi.StringWidth(whole) > p.width || strings.Contains(whole, "\n") {
		if p.words {
			whole = ansi.Wrap(whole, p.width, " ")
		} else {
			whole = ansi.Hardwrap(whole, p.width, true)
		}
	}
	for line := range strings.SplitSeq(whole, "\n") {
		lines = append(lines, text{t.tone, line})
	}
	return lines
}

func (p *pane) resize(width int) {
	if p == nil {
		return
	}
	p.width = width
	texts := p.texts
	p.replace(texts)
}

func (p *pane) scroll(by, height int) {
	last := max(0, len(p.lines)-height)
	if p.follow {
		p.top = last
	}
	p.top = min(max(p.top+by, 0), last)
	p.follow = p.follow && by >= 0 || by > 0 && p.top == last && p.more != nil
}

// shown are the lines at the present place: exactly so many.
func (p *pane) shown(width, height int) []string {
	last := max(0, len(p.lines)-height)
	if p.top = min(p.top, last); p.follow {
		p.top = last
	}
	lines := make([]string, height)
	for i := range lines {
		if at := p.top + i; at < len(p.lines) {
			l := p.lines[at]
			lines[i] = l.tone.paint(ansi.Truncate(l.text, width, ""))
		}
	}
	return lines
}

func (p *pane) close() {
	if p != nil && p.stop != nil {
		p.stop()
	}
}
