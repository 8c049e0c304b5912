package mcp

import (
	"context"
	"errors"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/problem"
)

// beginsWithin is how long a process may take until it works on a run, and one that does to take an order.
const beginsWithin = 30 * time.Second

var errNoCommit = errors.New("no commit is named")

type stopIn struct {
	runIn
	Cancel bool `json:"cancel,omitempty" jsonschema:"give the run up; its work is kept on a ref"`
}

type rejectIn struct {
	runIn
	Reason string `json:"reason" jsonschema:"what is to be changed; the agent gets it"`
}

type approveIn struct {
	runIn
	Commit string `json:"commit" jsonschema:"the commit that you looked at; another one is refused"`
}

type requestIn struct {
	Title string `json:"title" jsonschema:"what should be different, in one line"`
	Body  string `json:"body,omitempty" jsonschema:"the description, in Markdown"`
}

func (s *server) addOrders() {
	add(s, "create_request", "Write a request: a file in requests/, which start_run then carries out.", acts,
		func(ctx context.Context, c *call, in requestIn) (any, error) {
			return c.NewRequest(ctx, in.Title, in.Body)
		})
	add(s, "start_run", "Begin the run of a request, or continue one that was cut off. Answers at once; the run goes on by itself, also after this client ends. Agents are called, which may cost money.", acts,
		func(ctx context.Context, c *call, in runIn) (any, error) {
			p, err := c.Trusted(ctx)
			if err != nil {
				return nil, err
			}
			request, err := p.Named(ctx, in.Run)
			if err != nil {
				return nil, err
			}
			if holder, held, err := p.Held(ctx, request.ID); err != nil || held {
				if err == nil {
					err = app.HeldRequest(request.Number, holder)
				}
				return nil, err
			}
			return s.starts(ctx, p, request.ID, request.ID, "run", "--", in.Run)
		})
	add(s, "stop", "Stop a run, so that it can be resumed; with cancel, for good.", ends,
		func(ctx context.Context, c *call, in stopIn) (any, error) {
			return s.stop(ctx, c, in)
		})
	add(s, "resume", "Let a run that stopped continue. Answers at once.", acts,
		func(ctx context.Context, c *call, in runIn) (any, error) {
			return s.decide(ctx, c, in.Run, app.Resume(false))
		})
	add(s, "retry", "Let a run that failed try its step again. Answers at once.", acts,
		func(ctx context.Context, c *call, in runIn) (any, error) {
			return s.decide(ctx, c, in.Run, app.Retry())
		})
	add(s, "reject", "Send a change that waits for approval back to its agent, and say what to change.", acts,
		func(ctx context.Context, c *call, in rejectIn) (any, error) {
			return s.decide(ctx, c, in.Run, app.Reject(in.Reason))
		})
	if s.MayApprove {
		add(s, "approve", "Approve exactly this commit of a change that waits for approval. It is merged then.", ends,
			func(ctx context.Context, c *call, in approveIn) (any, error) {
				if in.Commit == "" {
					return nil, &problem.Error{Err: errNoCommit, Hint: "name the commit that you looked at: approve in the answer of get_run"}
				}
				return s.decide(ctx, c, in.Run, app.Approve(in.Commit))
			})
	}
}

// starts starts a process that executes a run, and shows the run.
func (s *server) starts(ctx context.Context, p *app.App, request, ref string, command ...string) (any, error) {
	within, cancel := context.WithTimeout(ctx, beginsWithin)
	defer cancel()
	if _, err := s.Starter.Start(within, p, request, command[0], command[1:]...); err != nil {
		return nil, err
	}
	at, err := p.Status(ctx, ref)
	return s.shown(&at), err
}

// stop stops a run. If no process runs it, one of its own records that it is stopped.
func (s *server) stop(ctx context.Context, c *call, in stopIn) (any, error) {
	o, command := app.Stop(in.Cancel), []string{"stop", "--", in.Run}
	if in.Cancel {
		command = []string{"stop", "--cancel", "--", in.Run}
	}
	found, err := c.Find(ctx, in.Run)
	if err == nil {
		err = o.May(&found.Run)
	}
	if err != nil {
		return nil, err
	}
	if _, held, err := c.Held(ctx, found.Ref.RequestID); err != nil || held {
		if err != nil {
			return nil, err
		}
		return s.left(ctx, c, in.Run, o)
	}
	return s.starts(ctx, c.App, found.Ref.RequestID, in.Run, command...)
}

// decide leaves an order, and has the run continue. What was written to its issue meanwhile counts only if the client may decide for a
// person: otherwise no one has read it.
func (s *server) decide(ctx context.Context, c *call, ref string, o app.Order) (any, error) {
	found, err := c.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	if o = o.Through(c.client()); !s.MayApprove {
		o = o.WithoutNews()
	}
	if _, held, err := c.Held(ctx, found.Ref.RequestID); err != nil || held {
		if err != nil {
			return nil, err
		}
		return s.left(ctx, c, ref, o)
	}
	if _, err := c.LeaveOnly(ctx, ref, o); err != nil {
		return nil, err
	}
	return s.starts(ctx, c.App, found.Ref.RequestID, ref, "run", "--", found.Ref.RequestID) // resume would have the issue read again
}

// left leaves an order for the process that runs the run, and shows the run once that has taken it.
func (s *server) left(ctx context.Context, c *call, ref string, o app.Order) (any, error) {
	run, err := c.LeaveOnly(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, beginsWithin)
	defer cancel()
	at, err := c.Changed(within, ref, run.Details.Transition)
	return s.shown(&at), err
}
