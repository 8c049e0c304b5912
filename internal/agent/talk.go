package agent

import (
	"context"
	"errors"
	"slices"
	"sync"

	"signalbox/internal/process"
)

// maxQuestions is how many questions may wait at once. A program that asks more doesn't wait for the answers. It is
// far above the number of tools that a model calls at once.
const maxQuestions = 100

// ErrPesters: the program asks more questions than a person can answer. The call ends, and Run returns it.
var ErrPesters = errors.New("it asks more questions than a person can answer")

// maxTold is how much may wait to be read by a program, in bytes: a few answers of the largest size.
const maxTold = 4 * maxLine

// ErrDeaf: the program does not read its standard input. The call ends, and Run returns it: the program would wait forever for an answer that is
// in the queue.
var ErrDeaf = errors.New("it does not read its standard input")

// talk is a running Dialogue with a program.
type talk struct {
	Dialogue
	task Task
	// input is what the program reads after Program.Stdin. Writing to it never blocks, so a program that doesn't read can't stop the reading of its
	// output.
	input *process.Queue
	// silence and deadline pause while a person thinks: that is no work, and has its own limit.
	silence, deadline *process.Deadline
	// end ends the call with a cause, which Run returns. nil is the usual end.
	end context.CancelCauseFunc

	// mu guards the Dialogue and the questions: lines arrive in one goroutine, answers in another.
	mu sync.Mutex
	// waiting are the unanswered questions; the first is being asked now.
	waiting []*asked
	// more signals that there may be a question to answer.
	more chan struct{}
}

// asked is a question in the queue. ctx ends when it is withdrawn or the program has ended.
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

// follow performs the Dialogue's Turn. Questions are queued: each is answered after those before it. The caller holds mu.
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
		w := &asked{Question: Asked(q)}
		entry := Entry{Kind: QuestionAsked, Tool: w.Tool, Text: w.Text}
		if w.Kind == Permission {
			entry.Kind = PermissionAsked
		}
		entries = append(entries, entry)
		if len(t.waiting) >= maxQuestions {
			t.end(ErrPesters)
			continue
		}
		w.ctx, w.withdraw = context.WithCancel(ctx)
		t.waiting = append(t.waiting, w)
		t.silence.Hold()
		t.deadline.Hold()
		select {
		case t.more <- struct{}{}:
		default:
		}
	}
	if turn.Over {
		t.input.Close()
	}
	return entries
}

// next returns the question to answer now; nil if none waits.
func (t *talk) next() *asked {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	return t.waiting[0]
}

// answer asks one question and waits, without holding mu: the program goes on printing meanwhile. Only one answer runs at a time.
func (t *talk) answer(ctx context.Context, w *asked) {
	a, err := Answer{Verdict: Denied, Text: "No one can be asked."}, w.ctx.Err()
	if err == nil && t.task.Ask != nil {
		a, err = t.task.Ask(w.ctx, w.Question)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// A question that was withdrawn meanwhile gets no answer: the program has forgotten it.
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
	// The program gets its whole idle time again: it could not print before it was answered.
	t.silence.Restart()
	t.silence.Release()
	t.deadline.Release()
}
