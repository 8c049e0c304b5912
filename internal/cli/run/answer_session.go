package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// giveSession gives the answer to the session's host.
func (w *answering) giveSession(ctx context.Context, answer workflow.Answer) error {
	order := app.Personal(workflow.CommandAnswer, "", "")
	answer.By, answer.At = order.By, order.At
	said, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("answer %s: %w", answer.Question, err)
	}
	err = w.session.Answer(ctx, answer.Question, said)
	number := w.found.Run.Details.Number
	switch {
	case errors.Is(err, session.ErrNotAsked), errors.Is(err, session.ErrNotRunning):
		return &problem.Error{Err: fmt.Errorf("answer %s: the agent wants no answer to it any more", answer.Question),
			Hint: fmt.Sprintf("see what it does: signalbox session watch %d", number)}
	case err != nil:
		return wire.Explained(err)
	case w.JSON:
		return w.PrintJSON(answer)
	}
	w.Print("%s: %s; the agent goes on; follow it: signalbox session watch %d\n", answer.Question, verdictWord(&answer), number)
	return nil
}
