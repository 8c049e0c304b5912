package intake

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/workflow"
)

// Read looks where a webhook pointed.
func (i *Intake) Read(ctx context.Context, wake forge.Wake) (Result, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var result Result
	runs, err := i.runs(ctx)
	if err != nil {
		return result, err
	}
	var failed []error
	for _, on := range subjects(wake, runs) {
		failed = append(failed, i.at(ctx, on, wake, runs, &result))
	}
	return result, errors.Join(append(failed, i.owed(ctx, runs, &result))...)
}

// Look reads all that changed since the last look. It finds what no webhook told.
func (i *Intake) Look(ctx context.Context) (Result, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var result Result
	b, err := i.open(ctx)
	if err != nil {
		return result, err
	}
	changes, err := i.Forge.Changes(ctx, b.Seen)
	if err != nil {
		return result, err
	}
	runs, err := i.runs(ctx)
	if err != nil {
		return result, err
	}
	seen := b.Seen
	var failed []error
	for _, change := range changes {
		if err := i.changed(ctx, change, runs, &result); err != nil {
			failed = append(failed, err)
		} else if len(failed) == 0 && change.UpdatedAt.After(seen) { // what failed is read again
			seen = change.UpdatedAt
		}
	}
	if seen.After(b.Seen) {
		failed = append(failed, i.book().Update(ctx, func(now *book) error {
			now.Seen = seen
			return nil
		}))
	}
	return result, errors.Join(append(failed, i.owed(ctx, runs, &result))...)
}

// enoughLooks is how often one change is looked at: forges count in seconds, so a second change may follow in the same one.
const enoughLooks = 2

func (i *Intake) changed(ctx context.Context, change forge.Change, runs []*workflow.Run, result *Result) error {
	key := look{change.On, change.UpdatedAt}
	if i.looks[key] >= enoughLooks {
		return nil
	}
	err := i.at(ctx, change.On, forge.Wake{MayStart: true}, runs, result)
	if err != nil && !permanent(err) {
		return err
	}
	if err != nil {
		i.Logger.Warn("orders are not read", "on", change.On.String(), "err", err)
	}
	for old := range i.looks {
		if old.on == change.On && old != key {
			delete(i.looks, old)
		}
	}
	i.looks[key]++
	return nil
}

// permanent reports whether reading again would fail again: then other issues go on.
func permanent(err error) bool {
	var f *forge.Failure
	return errors.Is(err, forge.ErrNotFound) || errors.As(err, &f) && f.Kind == forge.Refused
}

// runs are the latest runs of issues that can be read.
func (i *Intake) runs(ctx context.Context) (latest []*workflow.Run, err error) {
	all, err := i.Store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	newest := map[string]*workflow.Run{}
	for n := range all { // the newest of each request comes last
		if r := &all[n]; r.Err == nil && isIssue(r.Ref.RequestID) {
			newest[r.Ref.RequestID] = &r.Run
		}
	}
	for _, run := range newest {
		latest = append(latest, run)
	}
	slices.SortFunc(latest, func(a, b *workflow.Run) int { return cmp.Compare(a.Details.Number, b.Details.Number) })
	return latest, nil
}

// isIssue reports whether a request is an issue of the forge: a file's id is no number.
func isIssue(requestID string) bool {
	_, err := strconv.Atoi(requestID)
	return err == nil
}

// of returns the latest run of an issue or a pull request, or nil.
func of(on forge.Subject, runs []*workflow.Run) *workflow.Run {
	for _, run := range runs {
		if pr := run.Details.PullRequest; on.Pull && pr != nil && pr.Number == on.Number || !on.Pull && run.Details.Number == on.Number {
			return run
		}
	}
	return nil
}

// subjects are what a webhook points at. If it has numbers alone, one is a pull request if a run opened it.
func subjects(wake forge.Wake, runs []*workflow.Run) (found []forge.Subject) {
	numbers := wake.Numbers
	if len(wake.On) > 0 {
		numbers, found = nil, slices.Clone(wake.On)
	}
	for _, number := range numbers {
		on := forge.OnIssue(number)
		if of(forge.OnPull(number), runs) != nil {
			on = forge.OnPull(number)
		}
		found = append(found, on)
	}
	for _, run := range runs {
		if pr := run.Details.PullRequest; pr != nil && wake.Commit != "" && run.Details.Head == wake.Commit && !slices.Contains(found, forge.OnPull(pr.Number)) {
			found = append(found, forge.OnPull(pr.Number))
		}
	}
	return found
}

// at wakes the run that waits for news of an issue or a pull request, and takes the orders there.
func (i *Intake) at(ctx context.Context, on forge.Subject, wake forge.Wake, runs []*workflow.Run, result *Result) error {
	run := of(on, runs)
	if run != nil && (run.Watches() || looks(run)) {
		if err := i.wake(ctx, run); err != nil {
			return err
		}
		result.Woken = append(result.Woken, run.Details.Number)
	}
	if !wake.MayStart {
		return nil
	}
	b, err := i.open(ctx)
	if err != nil {
		return err
	}
	orders, err := i.Forge.Orders(ctx, on, b.after(i.Now()))
	if err != nil {
		return err
	}
	for _, order := range orders {
		if _, known := b.Orders[order.ID]; known {
			continue
		}
		order.Seen = wake.Texts[order.Remark.ID]
		if err := i.take(ctx, order, run, result); err != nil {
			return fmt.Errorf("take the order of %q on %v: %w", order.By, on, err)
		}
		if run != nil { // an earlier order changed it
			if now, err := i.Store.Stage(workflow.RefOf(run)).Load(ctx); err == nil {
				*run = now
			}
		}
	}
	return nil
}

// looks reports whether the run looks at the forge right now. It may have read what the webhook is about before that happened, so it looks once more.
func looks(run *workflow.Run) bool {
	p := run.Details.Pending
	return run.State == workflow.Running && len(p) > 0 && (p[0].Kind == workflow.WatchChecks || p[0].Kind == workflow.MergePullRequest)
}

// wake leaves the order to look at the forge now, unless one waits there already.
func (i *Intake) wake(ctx context.Context, run *workflow.Run) error {
	return i.Store.Signal(ctx, workflow.RefOf(run), func(s *workflow.Signals) error {
		if !slices.ContainsFunc(s.Commands, func(c workflow.Command) bool { return c.Kind == workflow.CommandWake }) {
			s.Commands = append(s.Commands, workflow.Command{ID: "wake-" + rand.Text(), Kind: workflow.CommandWake, By: "the forge", At: i.Now().UTC()})
		}
		return nil
	})
}

// owed adds the runs that the caller has to run: those that were ordered, and those with an order of the forge that no process takes.
func (i *Intake) owed(ctx context.Context, runs []*workflow.Run, result *Result) error {
	b, err := i.open(ctx)
	if err != nil {
		return err
	}
	held, err := i.held(ctx)
	if err != nil {
		return err
	}
	owe := func(number int) {
		if ref := strconv.Itoa(number); !held[ref] && !slices.Contains(result.Run, ref) {
			result.Run = append(result.Run, ref)
		}
	}
	for id, e := range b.Orders {
		if e.State != ordered {
			continue
		}
		run := of(forge.OnIssue(e.Number), runs)
		switch {
		case run == nil || run.RunID <= e.After || run.UnderWay() || run.Interrupted():
			owe(e.Number)
		default:
			if err := i.write(ctx, forge.Order{ID: id, Verb: e.Verb, By: e.By, At: e.At}, e.Number, entry{State: settled}); err != nil {
				return err
			}
		}
	}
	for _, run := range runs {
		s := &run.Signals
		left := s.StopRequested || s.ResumeRequested || slices.ContainsFunc(s.Commands, func(c workflow.Command) bool { return c.Kind != workflow.CommandWake })
		if len(s.Orders) > 0 && (left || run.UnderWay() || run.Interrupted()) {
			owe(run.Details.Number)
		}
	}
	return i.byUrgency(ctx, result.Run)
}

// held are the requests on which a process works.
func (i *Intake) held(ctx context.Context) (map[string]bool, error) {
	holders, err := i.Store.Holders(ctx)
	held := map[string]bool{}
	for _, h := range holders {
		if request, ok := strings.CutPrefix(h.Name, "request-"); ok {
			held[request] = true
		}
	}
	return held, err
}

// byUrgency sorts issues by their labels' priority, and then by number. Those without one come last.
func (i *Intake) byUrgency(ctx context.Context, numbers []string) error {
	slices.SortFunc(numbers, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	if len(numbers) < 2 {
		return nil
	}
	priority := map[string]string{}
	for _, number := range numbers {
		request, err := i.Forge.Request(ctx, number)
		if err != nil && !permanent(err) {
			return err
		}
		priority[number] = cmp.Or(request.Priority, "P9")
	}
	slices.SortStableFunc(numbers, func(a, b string) int { return cmp.Compare(priority[a], priority[b]) })
	return nil
}
