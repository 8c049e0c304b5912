package agent

import (
	"context"
	"errors"
	"slices"
	"sync"

	"signalbox/internal/process"
)

// maxQuestions is how many questions may wait at once. A program that asks more doesn't wait for the answers.
const maxQuestions = 100

// ErrPesters: the program asks more questions than a person can answer.
var ErrPesters = errors.New("it asks more than anybody can answer")

// maxTold is how much may wait to be read by a program, in bytes.
const maxTold = 4 * maxLine

// ErrDeaf: the program does not read its standard input.
var ErrDeaf = errors.New("it does not read what it is told")

// talk is a running Dialogue with a program.
type talk struct {
	Dialogue
	task  Task
	input *process.Queue
	// silence and deadline pause while a person thinks: that is no work, and has its own limit.
	silence, deadline *process.Deadline
	// end ends the call.
	end context.CancelCauseFunc

	mu sync.Mutex
	// waiting are the unanswered questions; the first is being asked now.
	waiting []*asked
	more    chan struct{}
}

type asked struct {
	Question
	ctx      context.Context //nolint:containedctx // ends with the question
	withdraw context.CancelFunc
}

// read passes a line to the Dialogue and performs its Turn.
func (t *talk) read(ctx context.Context, line []byte) (entries []Entry, keep bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries, keep = t.Line(line)
	return append(entries, t.follow(ctx)...), keep
}

// follow performs the Dialogue's Turn.
func (t *talk) follow(ctx context.Context) (entries []Entry) {
	turn := t.Turn()
	if err := t.input.Put(turn.Tell); errors.Is(err, process.ErrQueueFull) {
		t.end(ErrDeaf)
	}
	for _, w := range t.waiting {
		if slices.Contains(turn.Withdrawn, w.ID) {
			w.withdraw()
		}
	}
	for _, q := range turn.Ask {
		entries = append(entries, t.put(ctx, Asked(q)))
	}
	if turn.Over {
		t.input.Close()
	}
	return entries
}

// put queues a question; it is answered after those before it.
func (t *talk) put(ctx context.Context, q Question) Entry {
	entry := Entry{Kind: QuestionAsked, Tool: q.Tool, Text: q.Text}
	if q.Kind == Permission {
		entry.Kind = PermissionAsked
	}
	if len(t.waiting) >= maxQuestions {
		t.end(ErrPesters)
		return entry
	}
	w := &asked{Question: q}
	w.ctx, w.withdraw = context.WithCancel(ctx)
	t.waiting = append(t.waiting, w)
	t.silence.Hold()
	t.deadline.Hold()
	select {
	case t.more <- struct{}{}:
	default:
	}
	return entry
}

func (t *talk) next() *asked {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	return t.waiting[0]
}

// answer asks one question and waits. Only one runs at a time.
func (t *talk) answer(ctx context.Context, w *asked) {
	a, err := Answer{Verdict: Denied, Text: "Nobody can be asked."}, w.ctx.Err()
	if err == nil && t.task.Ask != nil {
		a, err = t.task.Ask(w.ctx, w.Question)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	withdrawn := w.ctx.Err() != nil
	w.withdraw()
	t.waiting = t.waiting[1:]
	switch {
	case withdrawn:
	case err != nil:
		t.end(err)
	default:
		t.Answered(w.Question, a)
		for _, entry := range t.follow(ctx) {
			t.task.tell(entry)
		}
	}
	t.silence.Restart()
	t.silence.Release()
	t.deadline.Release()
}
