package display

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Progress shows runs while they are carried: on a terminal one line per run,
// redrawn; elsewhere one line per piece of news. JSON output has no progress.
type Progress struct {
	*command.Invocation
	several bool
	// Header is what stands above the runs on a terminal; empty for none.
	Header string
	// words are the last words of a run's agent, shown below its line; nil shows none.
	words   func(*workflow.Run) string
	mu      sync.Mutex
	runs    []workflow.Run
	since   map[string]time.Time // when a run's message last changed, by run id
	drawn   int
	left    bool // the person looks away: what is drawn stays
	said    map[string]string
	aside   map[string]int // how many refs of work set aside were told of, by run id
	last    map[string]lastWords
	done    chan struct{}
	stopped chan struct{}
}

// lastWords are what a run's agent said last, as far as was looked at a moment ago.
type lastWords struct {
	text string
	at   time.Time
}

// lookEvery is how often an agent's last words are looked at.
const lookEvery = time.Second

// redrawEvery is how often the clock in a progress line moves.
const redrawEvery = time.Second / 5

func NewProgress(a *command.Invocation, several bool, words func(*workflow.Run) string) *Progress {
	p := &Progress{Invocation: a, several: several, words: words, said: map[string]string{}, aside: map[string]int{}, since: map[string]time.Time{},
		last: map[string]lastWords{}, done: make(chan struct{}), stopped: make(chan struct{})}
	if a.JSON || !a.Terminal {
		close(p.stopped)
		return p
	}
	go p.redraw()
	return p
}

func (p *Progress) Observe(run workflow.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.JSON {
		return
	}
	p.tellSavedWork(&run)
	line := p.news(&run)
	news := line
	if !p.Terminal && run.State == workflow.Queued {
		news, _, _ = strings.Cut(line, ", held by ") // else all that wait would say so again with every slot that changes hands
	}
	if p.said[run.RunID] == news {
		return
	}
	p.said[run.RunID] = news
	p.since[run.RunID] = time.Now()
	if p.Terminal {
		p.keep(run)
		return
	}
	p.Print("%s %s\n", commandline.Clock(time.Now()), line)
}

// tellAside says when work is set aside; where, is told at the end, and to a terminal, where lines do not stay, only there.
func (p *Progress) tellSavedWork(run *workflow.Run) {
	told, known := p.aside[run.RunID]
	p.aside[run.RunID] = len(run.Details.Aside)
	if !known || p.Terminal {
		return
	}
	for range run.Details.Aside[min(told, len(run.Details.Aside)):] {
		p.Print("%s #%s  what lay in its environment is set aside on a ref\n", commandline.Clock(time.Now()), run.Ref())
	}
}

func (p *Progress) keep(run workflow.Run) {
	for i := range p.runs {
		if p.runs[i].RunID == run.RunID {
			p.runs[i] = run
			return
		}
	}
	p.runs = append(p.runs, run)
}

// news is what a run has to say, without the passing of time.
func (p *Progress) news(run *workflow.Run) string {
	where := stepWord(run)
	if run.State != workflow.Running {
		where = strings.ToLower(run.State.Label())
	}
	if run.Interrupted() {
		where = strings.ToLower(Interrupted)
	}
	return fmt.Sprintf("%s  %3d%%  %-14s %s", "#"+run.Ref(), run.Progress.Percent, where, fit(redact.Line(commandline.Doing(run), 300), 160))
}

// stepWord is the run's step in a word. Within design-check that is two things, of which a workflow
// without a planner has the second alone.
func stepWord(run *workflow.Run) string {
	switch phase := run.Details.Phase; {
	case run.Details.SettingUp:
		return "set-up"
	case run.Details.Phases[phase].Status == workflow.StepSkipped:
		return "plan"
	default:
		return string(phase.Step())
	}
}

func (p *Progress) redraw() {
	defer close(p.stopped)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.draw()
		case <-p.done:
			p.mu.Lock()
			if !p.left {
				p.erase()
			}
			p.mu.Unlock()
			return
		}
	}
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines()
	p.erase()
	for _, line := range lines {
		p.Print("%s\n", line)
	}
	p.drawn = len(lines)
}

// lines are what a terminal shows now, none wider than it.
func (p *Progress) lines() (lines []string) {
	if p.Header != "" {
		lines = append(lines, p.Paint(command.Faint, fit(p.Header, p.Width()-1)))
	}
	for i := range p.runs {
		lines = append(lines, p.bar(&p.runs[i]))
		if said := p.wordsOf(&p.runs[i]); said != "" {
			lines = append(lines, p.Paint(command.Faint, fit("   "+said, p.Width()-1)))
		}
	}
	return lines
}

func (p *Progress) wordsOf(run *workflow.Run) string {
	if p.words == nil {
		return ""
	}
	last := p.last[run.RunID]
	if at := time.Now(); at.Sub(last.at) >= lookEvery {
		last = lastWords{p.words(run), at}
		p.last[run.RunID] = last
	}
	return last.text
}

func (p *Progress) erase() {
	if p.drawn > 0 {
		p.Print("\r\x1b[%dA\x1b[J", p.drawn)
	}
	p.drawn = 0
}

const (
	barWidth = 20
	// narrow is the width below which the bar is left out.
	narrow = 72
)

// bar is one run as one line, never wider than the terminal: how far, where,
// for how long, doing what.
func (p *Progress) bar(run *workflow.Run) string {
	full := run.Progress.Percent * barWidth / 100
	elapsed := time.Since(p.since[run.RunID]).Truncate(time.Second)
	if until := waitsUntil(run); until != nil {
		elapsed = -max(0, time.Until(*until).Round(time.Second)) // counts down to the next attempt
	}
	head := fmt.Sprintf("#%s %s%s %3d%% %-14s %6s  ", run.Ref(), strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		run.Progress.Percent, stepWord(run), elapsed)
	width := p.Width() - 1
	if width < narrow {
		head = fmt.Sprintf("#%s %d%% %s ", run.Ref(), run.Progress.Percent, elapsed)
	}
	room := width - displaywidth.String(head)
	if room < 1 {
		return redact.Line(head, max(1, width))
	}
	return p.Paint(command.Bold, head) + fit(redact.Line(commandline.Doing(run), 300), room)
}

// waitsUntil is when the run tries something again; nil when it does not wait for that.
func waitsUntil(run *workflow.Run) *time.Time {
	if pending := run.Details.Pending; len(pending) > 0 && pending[0].Kind == workflow.Wait {
		return pending[0].Until
	}
	return nil
}

// fit cuts s to a number of columns.
func fit(s string, room int) string {
	if displaywidth.String(s) <= room {
		return s
	}
	return atWord(displaywidth.TruncateString(s, room-1, "")) + "…"
}

// atWord leaves out the beginning of a word that was cut, unless it is a long one.
func atWord(cut string) string {
	const long = 16
	if at := strings.LastIndexByte(cut, ' '); at > 0 && at > len(cut)-long {
		return cut[:at]
	}
	return cut
}

// Stay ends the drawing and leaves what was drawn last, for a person who looks away.
func (p *Progress) Stay() {
	p.mu.Lock()
	p.left = true
	p.mu.Unlock()
	p.Close()
}

// Close ends the drawing; it may be called twice.
func (p *Progress) Close() {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	<-p.stopped
}
