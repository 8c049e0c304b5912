package display

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Progress shows runs under way: on a terminal one line per run, redrawn; elsewhere one line per change. JSON output has no
// progress.
type Progress struct {
	*command.Invocation
	several bool
	// Header is the line above the runs on a terminal; empty for none.
	Header string
	// words are the last words of a run's agent, shown below its line; nil shows none.
	words   func(*workflow.Run) string
	mu      sync.Mutex
	runs    []workflow.Run
	since   map[string]time.Time // when a run's message last changed, by run id
	drawn   int
	left    bool // the user leaves: the last drawing stays
	said    map[string]string
	saved   map[string]int // how many refs with saved work were announced, by run id
	last    map[string]lastWords
	done    chan struct{}
	stopped chan struct{}
}

// lastWords are a run's last words and when they were read.
type lastWords struct {
	text string
	at   time.Time
}

// lookEvery is how often an agent's last words are looked at.
const lookEvery = time.Second

// redrawEvery is how often the clock in a progress line moves.
const redrawEvery = time.Second / 5

func NewProgress(a *command.Invocation, several bool, words func(*workflow.Run) string) *Progress {
	p := &Progress{Invocation: a, several: several, words: words, said: map[string]string{}, saved: map[string]int{}, since: map[string]time.Time{},
		last: map[string]lastWords{}, done: make(chan struct{}), stopped: make(chan struct{})}
	if a.JSON || !a.Terminal {
		close(p.stopped)
		return p
	}
	go func() {
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
	}()
	return p
}

// Observe shows a run's new state.
func (p *Progress) Observe(run workflow.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.JSON {
		return
	}
	now := commandline.Clock(time.Now())
	announced, known := p.saved[run.RunID]
	p.saved[run.RunID] = len(run.Details.SavedWork)
	if known && !p.Terminal { // a terminal shows it, and where it is, only at the end, because lines don't stay there
		for range run.Details.SavedWork[min(announced, len(run.Details.SavedWork)):] {
			p.Print("%s #%s  the work in its environment was saved on a ref\n", now, run.Ref())
		}
	}
	line := p.news(&run)
	news := line
	if !p.Terminal && run.State == workflow.Queued {
		news, _, _ = strings.Cut(line, ", held by ") // else all waiting runs would repeat themselves whenever a slot changes hands
	}
	if p.said[run.RunID] == news {
		return
	}
	p.said[run.RunID] = news
	p.since[run.RunID] = time.Now()
	if !p.Terminal {
		p.Print("%s %s\n", now, line)
		return
	}
	if i := slices.IndexFunc(p.runs, func(r workflow.Run) bool { return r.RunID == run.RunID }); i >= 0 {
		p.runs[i] = run
	} else {
		p.runs = append(p.runs, run)
	}
}

// news is a run's state in one line, without the time that passed.
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

// stepWord is the run's step in a word. design-check has two parts; a workflow without a planner has only the second.
func stepWord(run *workflow.Run) string {
	switch phase := run.Details.Phase; {
	case run.Details.SettingUp:
		return "setup"
	case run.Details.Phases[phase].Status == workflow.StepSkipped:
		return "plan"
	default:
		return string(phase.Step())
	}
}

// draw redraws the header and, for each run, its bar and last words, none wider than the terminal.
func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	if p.Header != "" {
		lines = append(lines, p.Paint(command.Faint, fit(p.Header, p.Width()-1)))
	}
	for i := range p.runs {
		run := &p.runs[i]
		lines = append(lines, p.bar(run))
		if p.words == nil {
			continue
		}
		last := p.last[run.RunID]
		if at := time.Now(); at.Sub(last.at) >= lookEvery {
			last = lastWords{p.words(run), at}
			p.last[run.RunID] = last
		}
		if last.text != "" {
			lines = append(lines, p.Paint(command.Faint, fit("   "+last.text, p.Width()-1)))
		}
	}
	p.erase()
	for _, line := range lines {
		p.Print("%s\n", line)
	}
	p.drawn = len(lines)
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
	if pending := run.Details.Pending; len(pending) > 0 && pending[0].Kind == workflow.Wait && pending[0].Until != nil {
		elapsed = -max(0, time.Until(*pending[0].Until).Round(time.Second)) // counts down to the next attempt
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

// fit cuts s to a number of columns, before the word that would be cut unless that is long.
func fit(s string, room int) string {
	if displaywidth.String(s) <= room {
		return s
	}
	const long = 16
	cut := displaywidth.TruncateString(s, room-1, "")
	if at := strings.LastIndexByte(cut, ' '); at > 0 && at > len(cut)-long {
		cut = cut[:at]
	}
	return cut + "…"
}

// Stay ends the drawing and leaves the last one on the screen.
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
