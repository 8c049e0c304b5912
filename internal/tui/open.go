package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"signalbox/internal/app"
	"signalbox/internal/app/board"
	"signalbox/internal/app/change"
	"signalbox/internal/app/transcript"
	"signalbox/internal/commandline"
	"signalbox/internal/workflow"
)

// show puts a pane on the screen.
func (m *model) show(v view, p *pane) {
	m.pane.close()
	m.view, m.pane = v, p
	p.resize(m.width)
}

// open shows the board, or something of the chosen card.
func (m *model) open(v view) tea.Cmd {
	if v == atBoard {
		m.pane.close()
		m.view, m.pane = atBoard, nil
		return nil
	}
	c := *m.card()
	if v != atDetails && c.Run == nil {
		m.note = note{m.say("not-begun"), plain}
		return nil
	}
	p := &pane{title: m.titled(&c).text}
	switch v {
	case atDetails:
		p.words, p.texts = true, m.details(&c)
	case atLog:
		p.follow = true
		p.load = func(part int) tea.Cmd { return m.readLog(p, &c, part) }
	case atDiff:
		p.load = func(part int) tea.Cmd { return m.readDiff(p, &c, part) }
	}
	_, info := m.look.SessionOf(m.ctx, cmp.Or(c.Run, &workflow.Run{}))
	m.attaches = info != nil && info.EndedAt == nil
	m.show(v, p)
	if p.load != nil {
		return p.load(-1)
	}
	return nil
}

// part shows the next part of a pane, or the one before it.
func (m *model) part(by int) tea.Cmd {
	p := m.pane
	at := p.at + by
	if at < 0 || at >= len(p.parts) {
		return nil
	}
	p.close()
	p.replace(nil)
	p.at, p.top, p.more = at, 0, nil
	return p.load(at)
}

// waiting is how many lines of a log wait to be shown, batch how many are shown together.
const (
	waiting = 1024
	batch   = 2000
)

// readLog follows a log, the newest if part is negative. What a program printed is shown as it is, an agent's conversation in words.
func (m *model) readLog(p *pane, c *board.Card, part int) tea.Cmd {
	logs := m.look.Logs(workflow.RefOf(c.Run))
	ctx, stop := context.WithCancel(m.ctx)
	p.stop = stop
	return func() tea.Msg {
		names, err := logs.Names()
		if err != nil || len(names) == 0 {
			return read{pane: p, texts: []text{{faint, m.say("nothing-printed")}}}
		}
		if part < 0 || part >= len(names) {
			part = len(names) - 1
		}
		lines, failed := make(chan text, waiting), make(chan error, 1)
		go func() {
			defer close(lines)
			failed <- logs.Read(ctx, names[part], part == len(names)-1, func(l app.LogLine) {
				for _, t := range m.logged(l) {
					select {
					case lines <- t:
					case <-ctx.Done():
					}
				}
			})
		}()
		return read{pane: p, parts: names, at: part, more: func() tea.Msg { return m.readMore(p, lines, failed) }}
	}
}

// readMore waits for lines, and takes all that are there.
func (m *model) readMore(p *pane, lines <-chan text, failed <-chan error) tea.Msg {
	next := read{pane: p, fail: m.fail, more: func() tea.Msg { return m.readMore(p, lines, failed) }}
	t, open := <-lines
	for open {
		next.texts = append(next.texts, t)
		if len(next.texts) == batch {
			return next
		}
		select {
		case t, open = <-lines:
		default:
			return next
		}
	}
	next.more, next.err = nil, <-failed
	return next
}

var tones = map[transcript.Tone]tone{transcript.Strong: strong, transcript.Attention: attention, transcript.Bad: bad}

// logged are a log's line as it is shown.
func (m *model) logged(l app.LogLine) []text {
	if l.Begins {
		return []text{{heading, "── " + m.line(l.Log) + " ──"}}
	}
	e, ok := transcript.Of(l)
	switch {
	case !ok:
		return []text{{plain, m.clean(strings.TrimRight(l.Text, "\r\n"))}}
	case e.What == "":
		return nil
	}
	var all []text
	before := fmt.Sprintf("%s %-8s", commandline.Clock(e.Time), e.What)
	for line := range strings.SplitSeq(strings.TrimSpace(m.clean(e.Says)), "\n") {
		all = append(all, text{tones[e.Tone], before + " " + line})
		before = strings.Repeat(" ", len(before))
	}
	return all
}

// readDiff shows a file of the change, the first if part is negative: exactly what an approval agrees to.
func (m *model) readDiff(p *pane, c *board.Card, part int) tea.Cmd {
	run := *c.Run
	return func() tea.Msg {
		r := read{pane: p, fail: m.fail, at: max(part, 0)}
		d, err := change.Read(m.ctx, m.look, &run, change.Limits{Files: change.Page.Files, Lines: kept, FileLines: kept})
		if err != nil || len(d.Files) == 0 {
			r.texts, r.err = []text{{faint, m.say("no-diff")}}, err
			return r
		}
		for i := range d.Files {
			f := &d.Files[i]
			r.parts = append(r.parts, fmt.Sprintf("%s +%d −%d", f.Path, f.Added, f.Deleted))
		}
		r.at = min(r.at, len(r.parts)-1)
		r.texts = fileTexts(&d.Files[r.at])
		return r
	}
}

// fileTexts are a file's changes. Their text is clean already.
func fileTexts(f *change.File) (all []text) {
	about := fmt.Sprintf("%s → %s  %s → %s", f.OldPath, f.Path, f.OldMode, f.NewMode)
	all = append(all, text{faint, about})
	for _, h := range f.Hunks {
		all = append(all, text{heading, "@@ " + h.Section})
		for _, l := range h.Lines {
			t := map[change.Kind]tone{change.Added: good, change.Removed: bad}[l.Kind]
			all = append(all, text{t, fmt.Sprintf("%5s %5s %c%s", numbered(l.Old), numbered(l.New), l.Kind, strings.ReplaceAll(l.Text, "\t", "    "))})
		}
	}
	if f.Binary || f.Cut {
		all = append(all, text{faint, "…"})
	}
	return all
}

func numbered(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// attach gives the terminal to the session that works on the request, if one does.
func (m *model) attach() tea.Cmd {
	run := m.card().Run
	if run == nil {
		m.note = note{m.say("not-begun"), plain}
		return nil
	}
	return func() tea.Msg {
		_, info := m.look.SessionOf(m.ctx, run)
		if info == nil || info.EndedAt != nil {
			return ordered{err: fmt.Errorf("%s", m.say("no-session", run.Ref()))}
		}
		return leaves{[]string{"session", "attach", run.Ref()}}
	}
}

// commandShown is a command's output in a pane.
func (m *model) commandShown(args []string) tea.Cmd {
	p := &pane{title: strings.Join(slices.Insert(slices.Clone(args), 0, "signalbox"), " "), words: true}
	m.show(atText, p)
	return func() tea.Msg {
		r := read{pane: p}
		for line := range strings.SplitSeq(m.clean(m.printed(args)), "\n") {
			r.texts = append(r.texts, text{plain, line})
		}
		return r
	}
}
