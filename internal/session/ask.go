package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Question is what the agent asks and waits with.
type Question struct {
	// ID is unique within the session, so that no answer is ever taken for one to another question.
	ID string `json:"id"`
	// Text is the question in a line.
	Text string `json:"text"`
	// Details are all of it, in words of whoever made the Executor.
	Details json.RawMessage `json:"details"`
}

// ErrNotAsked: the agent asks no such question, or not any more.
var ErrNotAsked = errors.New("this is not asked")

// hostKey is of a context's value: the host.
type hostKey struct{}

// Ask shows a question of the agent, and returns what Session.Answer says to it. It is for an Executor
// that an Entrance made, with the context that it was given, and for one question at a time.
func Ask(ctx context.Context, q Question) (answer json.RawMessage, err error) {
	h, ok := ctx.Value(hostKey{}).(*host)
	if !ok {
		return nil, fmt.Errorf("ask %s: there is no session", q.ID)
	}
	answers := make(chan json.RawMessage, 1)
	defer func() { // also what could not be shown
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

// answered passes an answer on; the first counts.
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

// Answer answers the question that the agent waits with, in words of whoever asks. ErrNotAsked: it does not.
func (x *Session) Answer(ctx context.Context, question string, answer json.RawMessage) error {
	return x.ask(ctx, request{Op: opAnswer, Answer: given{question, answer}})
}
