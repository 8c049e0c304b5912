package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// progress shows runs while they are carried: on a terminal one line per run,
// redrawn; elsewhere one line per piece of news. JSON output has no progress.
type progress struct {
	*app
	several bool
	mu      sync.Mutex
	runs    []workflow.Run
	since   map[string]time.Time // when a run's message last changed, by run id
	drawn   int
	said    map[string]string
	done    chan struct{}
	stopped chan struct{}
}

// redrawEvery is how often the clock in a progress line moves.
const redrawEvery = time.Second / 5

func newProgress(a *app, several bool) *progress {
	p := &progress{app: a, several: several, said: map[string]string{}, since: map[string]time.Time{},
		done: make(chan struct{}), stopped: make(chan struct{})}
	if a.json || !a.Terminal {
		close(p.stopped)
		return p
	}
	go p.redraw()
	return p
}

func (p *progress) observe(run workflow.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		return
	}
	line := p.news(&run)
	if p.said[run.RunID] == line {
		return
	}
	p.said[run.RunID] = line
	p.since[run.RunID] = now()
	if p.Terminal {
		p.keep(run)
		return
	}
	p.print("%s %s\n", now().Format("15:04:05"), line)
}

func (p *progress) keep(run workflow.Run) {
	for i := range p.runs {
		if p.runs[i].RunID == run.RunID {
			p.runs[i] = run
			return
		}
	}
	p.runs = append(p.runs, run)
}

// news is what a run has to say, without the passing of time.
func (p *progress) news(run *workflow.Run) string {
	where := string(run.Journey.Phase.Step())
	if run.State != workflow.Running {
		where = strings.ToLower(run.State.Label())
	}
	return fmt.Sprintf("%s  %3d%%  %-14s %s", "#"+run.Ref(), run.Progress.Percent, where, redact.Line(run.Progress.Message, 160))
}

func (p *progress) redraw() {
	defer close(p.stopped)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.draw()
		case <-p.done:
			p.mu.Lock()
			p.erase()
			p.mu.Unlock()
			return
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	for i := range p.runs {
		p.print("%s\n", p.bar(&p.runs[i]))
	}
	p.drawn = len(p.runs)
}

func (p *progress) erase() {
	if p.drawn > 0 {
		p.print("\x1b[%dA\x1b[J", p.drawn)
	}
	p.drawn = 0
}

const barWidth = 20

// bar is one run as one line: how far, where, for how long, doing what.
func (p *progress) bar(run *workflow.Run) string {
	full := run.Progress.Percent * barWidth / 100
	elapsed := now().Sub(p.since[run.RunID]).Truncate(time.Second)
	head := fmt.Sprintf("#%s %s%s %3d%% %-14s %6s  ", run.Ref(), strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		run.Progress.Percent, run.Journey.Phase.Step(), elapsed)
	room := max(10, p.Width()-len([]rune(head))-1)
	return p.paint(bold, head) + redact.Line(run.Progress.Message, room)
}

// close ends the drawing; it may be called twice.
func (p *progress) close() {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	<-p.stopped
}
