package container

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json"

	"signalbox/internal/environment/container/engine"
	"signalbox/internal/process"
)

// refusing is an engine's program that refuses one kind of order.
type refusing struct {
	op   engine.Op
	done []engine.Op
}

func (r *refusing) Exec(_ context.Context, c process.Command) (process.Result, error) {
	var order engine.Order
	err := json.UnmarshalRead(c.Stdin, &order)
	answer := []byte("{}")
	if order.Op == r.op {
		answer = []byte(`{"fault": "other", "message": "no"}`)
	} else {
		r.done = append(r.done, order.Op)
	}
	_, _ = c.Stdout.Write(answer)
	return process.Result{}, err
}

func TestRestoreRemovesNothingBeforeItKnowsTheSnapshot(t *testing.T) {
	t.Parallel()
	r := &refusing{op: engine.OpImage}
	e := &Environment{driver: &Driver{engine: engine.Engine{Exec: r, Program: "docker"}}}
	if _, err := e.Restore(t.Context(), "commit", "key"); err == nil || len(r.done) > 0 {
		t.Errorf("%v was done, error %v", r.done, err)
	}
}
