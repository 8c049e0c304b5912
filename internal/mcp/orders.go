package mcp

import (
	"context"
	"errors"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/problem"
)

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

func (in runIn) act() access.Act { return access.Act{Run: in.Run} }
func (in stopIn) act() access.Act {
	return access.Act{Run: in.Run, Detail: map[bool]string{true: "cancel"}[in.Cancel]}
}
func (in rejectIn) act() access.Act  { return access.Act{Run: in.Run, Detail: in.Reason} }
func (in approveIn) act() access.Act { return access.Act{Run: in.Run, Commit: in.Commit} }
func (in requestIn) act() access.Act { return access.Act{Detail: in.Title} }

func (s *server) addOrders() {
	add(s, "create_request", "Write a request: a file in requests/, which start_run then carries out.", acts,
		func(ctx context.Context, c *call, in requestIn) (any, error) {
			return c.NewRequest(ctx, in.Title, in.Body)
		})
	add(s, "start_run", "Begin the run of a request, or continue one that was cut off. Answers at once; the run goes on by itself, also after this client ends. Agents are called, which may cost money.", acts,
		func(ctx context.Context, c *call, in runIn) (any, error) {
			request, err := s.Starter.Run(ctx, c.App, in.Run)
			if err != nil {
				return nil, err
			}
			return s.now(ctx, c, request)
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
	if s.may(access.Approver) {
		add(s, "approve", "Approve exactly this commit of a change that waits for approval. It is merged then.", ends,
			func(ctx context.Context, c *call, in approveIn) (any, error) {
				if in.Commit == "" {
					return nil, &problem.Error{Err: errNoCommit, Hint: "name the commit that you looked at: approve in the answer of get_run"}
				}
				return s.decide(ctx, c, in.Run, app.Approve(in.Commit))
			})
	}
}

// stop stops a run.
func (s *server) stop(ctx context.Context, c *call, in stopIn) (any, error) {
	if err := s.Starter.Stop(ctx, c.App, in.Run, in.Cancel); err != nil {
		return nil, err
	}
	return s.now(ctx, c, in.Run)
}

// decide leaves an order, and has the run continue. What was written to its issue meanwhile counts only if the client may decide for a
// person: otherwise no one has read it.
func (s *server) decide(ctx context.Context, c *call, ref string, o app.Order) (any, error) {
	if o = o.Through(c.client()); !s.may(access.Approver) {
		o = o.WithoutNews()
	}
	if err := s.Starter.Give(ctx, c.App, ref, o); err != nil {
		return nil, err
	}
	return s.now(ctx, c, ref)
}

// now shows a run as it is now.
func (s *server) now(ctx context.Context, c *call, ref string) (any, error) {
	at, err := c.Status(ctx, ref)
	return s.shown(&at), err
}
