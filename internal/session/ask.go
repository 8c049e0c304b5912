package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Question is a question of the agent, which waits for its answer.
type Question struct {
	// ID is unique within the session, so that no answer ever goes to another question.
	ID string `json:"id"`
	// Text is the question in one line.
	Text string `json:"text"`
	// Details are the whole question, in the Executor's format.
	Details json.RawMessage `json:"details"`
}

// ErrNotAsked: the agent asks no such question, or no longer.
var ErrNotAsked = errors.New("this is not asked")

// hostKey is the key of a context's host.
type hostKey struct{}

// Ask publishes a question of the agent, and returns the answer that Session.Answer gives. It is for an
// Executor that an Entrance made, with the context that the Executor was given. It takes one question at a
// time.
func Ask(ctx context.Context, q Question) (answer json.RawMessage, err error) {
	h, ok := ctx.Value(hostKey{}).(*host)
	if !ok {
		return nil, fmt.Errorf("ask %s: there is no session", q.ID)
	}
	answers := make(chan json.RawMessage, 1)
	defer func() { // even if the question could not be saved
		err = errors.Join(err, h.save(context.WithoutCancel(ctx), func(i *Info) { i.Question, h.answers = nil, nil }))
	}()
	if err := h.save(ctx, func(i *Info) { i.Question, h.answers = &q, answers }); err != nil {
		return nil, fmt.Errorf("ask %s: %w", q.ID, err)
	}
	select {
	case answer := <-answers:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answered passes an answer on; the first one counts.
func (h *host) answered(a given) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.info.Question == nil || h.info.Question.ID != a.Question {
		return fmt.Errorf("question %s: %w", a.Question, ErrNotAsked)
	}
	select {
	case h.answers <- a.Answer:
		return nil
	default:
		return fmt.Errorf("question %s was answered before: %w", a.Question, ErrNotAsked)
	}
}

// Answer answers the question that the agent waits with, in the Executor's format. ErrNotAsked: it doesn't wait for this.
func (x *Session) Answer(ctx context.Context, question string, answer json.RawMessage) error {
	return x.ask(ctx, request{Op: opAnswer, Answer: given{question, answer}})
}
