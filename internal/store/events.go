package store

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/internal/workflow"
)

// Transition is one line of events.jsonl: a move of a run, its cause and the new
// state. It is written after stage.json and not flushed: stage.json is the truth,
// and after a power cut the lines of the last seconds may be missing.
type Transition struct {
	// Seq is the run's transition number; a gap is a line lost to a power cut.
	Seq int       `json:"seq"`
	At  time.Time `json:"at"`
	// Event is the name of the workflow.Event; "Recovered" where a crash lost it.
	Event   workflow.EventName `json:"event"`
	State   workflow.State     `json:"state"`
	Stage   workflow.Stage     `json:"stage"`
	Phase   workflow.Phase     `json:"phase"`
	Step    workflow.StepName  `json:"step"`
	Message string             `json:"message"`
	// Actions are the keys of the actions pending from here on.
	Actions []string `json:"actions"`
}

// eventsTail is how much of events.jsonl is read to find its last line, in bytes.
const eventsTail = 1 << 20

// transitionOf returns the run's transition that event made.
func transitionOf(run *workflow.Run, event workflow.EventName) Transition {
	j := run.Details
	t := Transition{Seq: j.Transition, At: run.UpdatedAt, Event: event, State: run.State, Stage: run.Stage, Phase: j.Phase, Step: j.StepName,
		Message: run.Progress.Message}
	for _, action := range j.Pending {
		t.Actions = append(t.Actions, action.Key)
	}
	return t
}

func (w *RunWriter) append(event Transition) error {
	line, err := w.store.encode(event)
	if err == nil {
		_, err = w.events.Write(line)
	}
	if err != nil {
		return writeError(w.folder.join(eventsFile), err)
	}
	return nil
}

// repairEvents removes a torn last line. It returns the number of the last whole line, 0 if none can be read.
func (w *RunWriter) repairEvents() (int, error) {
	size, err := w.events.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	tail := make([]byte, min(size, eventsTail))
	if _, err := w.events.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	whole := tail[:bytes.LastIndexByte(tail, '\n')+1]
	if torn := tail[len(whole):]; len(torn) > 0 {
		w.store.log.Warn("removed a torn last line", "path", w.folder.join(eventsFile), "line", string(torn))
		if err := w.events.Truncate(size - int64(len(torn))); err != nil {
			return 0, err
		}
	}
	line := bytes.TrimSuffix(whole, []byte("\n"))
	var last Transition
	if err := json.Unmarshal(line[bytes.LastIndexByte(line, '\n')+1:], &last); err != nil {
		return 0, nil
	}
	return last.Seq, nil
}
