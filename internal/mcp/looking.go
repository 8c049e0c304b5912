package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/workflow"
)

const (
	// listed is how many runs an answer lists unless it is asked for fewer.
	listed = 50
	// The usual and the longest time that wait_for_change waits. Clients give up on a call after a minute or more.
	usualWait   = 30 * time.Second
	longestWait = 5 * time.Minute
)

type listIn struct {
	State string `json:"state,omitempty" jsonschema:"only runs in this state: QUEUED, RUNNING, NEEDS_INPUT, DONE, FAILED, CANCELED, or new for requests without a run"`
	After int    `json:"after,omitempty" jsonschema:"only numbers above this one, to read the next page"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many at most, 50 if it isn't given"`
}

type runIn struct {
	Run string `json:"run" jsonschema:"the request's number such as 42, its id, or the beginning of a run id"`
}

type waitIn struct {
	runIn
	Seen    int `json:"seen,omitempty" jsonschema:"the transition that you know, as in the last answer; without it the next change is waited for"`
	Seconds int `json:"seconds,omitempty" jsonschema:"how long to wait, 30 if it isn't given, at most 300"`
}

type lines struct {
	Runs []app.Listing `json:"runs"`
	// More: ask again with after.
	More bool `json:"more"`
	// Broken says which requests can't be read.
	Broken string `json:"broken,omitempty"`
}

func (s *server) addLooking() {
	add(s, "list_runs", "List the requests and their latest runs, with state, phase and what each does or waits for.", looks,
		func(ctx context.Context, c *call, in listIn) (any, error) {
			all, broken, err := c.List(ctx, false)
			if err != nil {
				return nil, err
			}
			all = slices.DeleteFunc(all, func(l app.Listing) bool {
				state := strings.ToUpper(in.State)
				return l.Number <= in.After || state == "NEW" && (l.State != "" || l.Closed) || state != "" && state != "NEW" && string(l.State) != state
			})
			slices.SortFunc(all, func(a, b app.Listing) int { return a.Number - b.Number })
			limit := listed
			if in.Limit > 0 {
				limit = min(in.Limit, listed)
			}
			answer := lines{}
			answer.Runs, answer.More = first(all, limit)
			if broken != nil {
				answer.Broken = broken.Error()
			}
			return answer, nil
		})
	add(s, "get_run", "Show one run: state, phase, steps, evidence, question, pull request, use, and what can be done next.", looks,
		func(ctx context.Context, c *call, in runIn) (any, error) {
			at, err := c.Status(ctx, in.Run)
			return s.shown(&at), err
		})
	add(s, "explain", "Say in words where a run is, why it is there, since when, and what can be done next.", looks,
		func(ctx context.Context, c *call, in runIn) (any, error) {
			at, err := c.Status(ctx, in.Run)
			return s.explanation(&at, c.Now()), err
		})
	add(s, "wait_for_change", "Wait until a run changes, and show it. If nothing changes in time, it is shown as it is; call again with the transition of the answer.", looks,
		func(ctx context.Context, c *call, in waitIn) (any, error) {
			wait := usualWait
			if in.Seconds > 0 {
				wait = min(time.Duration(in.Seconds)*time.Second, longestWait)
			}
			seen := in.Seen
			if seen == 0 {
				at, err := c.Status(ctx, in.Run)
				if err != nil {
					return nil, err
				}
				seen = at.Run.Details.Transition
			}
			within, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			at, err := c.Changed(within, in.Run, seen)
			return s.shown(&at), err
		})
}

// explanation is where a run is, in words.
type explanation struct {
	Explanation string `json:"explanation"`
	Next        []step `json:"next,omitempty"`
}

func (s *server) explanation(at *app.Standing, now time.Time) explanation {
	if at.Issue != nil {
		return explanation{Explanation: fmt.Sprintf("Another program says that issue %d is %s. %s", at.Issue.Issue, at.Issue.Status, at.Issue.ErrorMessage)}
	}
	r := &at.Run
	j := &r.Details
	var b strings.Builder
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	p("Request %s, %q, is %s in phase %d (%s) since %s, %s ago: %s", r.Ref(), r.Title, strings.ToLower(r.State.Label()), j.Phase, j.Phase.Step(),
		r.UpdatedAt.UTC().Format(time.RFC3339), now.Sub(r.UpdatedAt).Round(time.Second), commandline.Doing(r))
	switch {
	case at.Interrupted:
		p("It should move, but no process runs it: it was cut off. Resuming continues it where it is.")
	case at.Held:
		p("A process runs it: %s.", app.Holder(at.Holder))
	}
	if e := r.Error; e != nil {
		p("It stopped with %s, %s: %s", e.ReasonCode, e.Title, e.Message)
	}
	if until := j.ParkedUntil; until != nil {
		p("It waits without a slot until %s.", until.UTC().Format(time.RFC3339))
	}
	if q := j.Question; q != nil {
		p("Its %s asks until %s, and the question counts as denied then: %s", q.Role, q.Until.UTC().Format(time.RFC3339), q.Text)
	}
	if r.AsksForApproval() {
		p("A person decides on the change at %s. Reasons to look: %s", j.Head, strings.Join(append([]string{"none beyond the change itself"}[min(len(j.Flags), 1):], j.Flags...), "; "))
	}
	if pr := j.PullRequest; pr != nil && pr.URL != "" {
		p("Its pull request is %s.", pr.URL)
	}
	if len(j.Evidence) > 0 {
		e := j.Evidence[len(j.Evidence)-1]
		result := "failed"
		if e.Passed {
			result = "passed"
		}
		p("The last test, %s on %.10s at %s, %s: %s%s", e.Purpose, e.Commit, e.At.UTC().Format(time.RFC3339), result, e.Command, e.Check)
	}
	if j.Failure != "" && r.State != workflow.Done {
		p("The last failure ended with:\n%s", j.Failure)
	}
	return explanation{b.String(), s.next(at)}
}
