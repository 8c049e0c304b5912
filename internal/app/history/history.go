// Package history is a run as it was at each of its transitions. events.jsonl has the state, the phase, the words for people and the pending
// actions of then; steps and tests are known by their times. What else was in the document then (findings, usage, budgets, questions) is kept
// nowhere, and isn't shown.
package history

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/internal/app"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// maxEvents bounds how much of events.jsonl is read, in bytes: some hundred times what a long run writes.
const maxEvents = 32 << 20

// Read reads a run's transitions in order.
func Read(ctx context.Context, p *app.App, ref workflow.RunRef) ([]store.Transition, error) {
	file, err := p.Store.OpenArtifact(store.RunDir(ref) + "/events.jsonl")
	if err != nil {
		return nil, wire.Explained(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxEvents))
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return Parse(data), ctx.Err()
}

// Parse returns the transitions in the lines of events.jsonl. It leaves out what is no line of it: a torn last one, and what a bad disk or a
// person left.
func Parse(data []byte) (all []store.Transition) {
	for line := range bytes.Lines(data) {
		var t store.Transition
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &t) == nil && !t.At.IsZero() && (len(all) == 0 || t.Seq > all[len(all)-1].Seq) {
			all = append(all, t)
		}
	}
	return all
}

// Waits reports whether the run waited after a transition: for a slot, a person, a time or the forge.
func Waits(t store.Transition) bool {
	return t.State != workflow.Running || len(t.Actions) > 0 && strings.HasSuffix(t.Actions[0], "-"+string(workflow.Wait))
}

// Moment is the run after a transition.
type Moment struct {
	store.Transition
	// Lasted is how long nothing moved then; until now, for the last one of a run that isn't over.
	Lasted time.Duration
	Waits  bool
	// Missing counts the transitions before this one that a power cut lost.
	Missing int
	Steps   []Step
	// Tests are those that had ended by then.
	Tests []workflow.Evidence
}

// Step is a step as it was. Its end counts only as the document has it now: of a step that was repeated, the last time.
type Step struct {
	ID, Title string
	Status    workflow.StepStatus
}

// At returns the run as it was after the i-th of its transitions.
func At(run *workflow.Run, all []store.Transition, i int, now time.Time) Moment {
	m := Moment{Transition: all[i], Waits: Waits(all[i]), Lasted: lasted(run, all, i, now)}
	before := -1
	if i > 0 {
		before = all[i-1].Seq
	}
	m.Missing = m.Seq - before - 1
	if i+1 == len(all) && m.Seq == run.Details.Transition { // now
		for _, s := range run.Steps {
			m.Steps = append(m.Steps, Step{s.StepID, s.Title, s.Status})
		}
	} else {
		for _, s := range run.Steps {
			m.Steps = append(m.Steps, Step{s.StepID, s.Title, statusAt(&s, m.At)})
		}
	}
	for _, e := range run.Details.Evidence {
		if !e.At.After(m.At) {
			m.Tests = append(m.Tests, e)
		}
	}
	return m
}

func statusAt(s *workflow.Step, at time.Time) workflow.StepStatus {
	switch {
	case s.StartedAt == nil || s.StartedAt.After(at):
		return workflow.StepPending
	case s.EndedAt == nil || s.EndedAt.After(at):
		return workflow.StepRunning
	}
	return s.Status
}

// lasted is the time from a transition to the next one. It is never negative, even if the clock was set back.
func lasted(run *workflow.Run, all []store.Transition, i int, now time.Time) time.Duration {
	end := now
	switch {
	case i+1 < len(all):
		end = all[i+1].At
	case run.State.Final():
		return 0
	}
	return max(0, end.Sub(all[i].At))
}

// Phase is what became of a phase. Ended is zero while the run is in it.
type Phase struct {
	Phase          workflow.Phase
	Began, Ended   time.Time
	Worked, Waited time.Duration
	// Times counts how often the run came into the phase: more than once if it was sent back.
	Times int
}

// Track returns the phases in the order in which the run first came into them, with the times of all its stays, waits apart.
func Track(run *workflow.Run, all []store.Transition, now time.Time) (track []Phase) {
	for i, t := range all {
		at := slices.IndexFunc(track, func(p Phase) bool { return p.Phase == t.Phase })
		if at < 0 {
			at, track = len(track), append(track, Phase{Phase: t.Phase, Began: t.At})
		}
		p := &track[at]
		if i == 0 || all[i-1].Phase != t.Phase {
			p.Times++
		}
		took := lasted(run, all, i, now)
		if p.Ended = t.At.Add(took); i+1 == len(all) && !run.State.Final() {
			p.Ended = time.Time{}
		}
		if Waits(t) {
			p.Waited += took
		} else {
			p.Worked += took
		}
	}
	return track
}
