package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"signalbox/internal/cli/command"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
)

// batchPlan is what is to be done, and what has to be done before each.
type batchPlan struct {
	requests map[int]forge.Request
	// needs are those of the batch that each depends on.
	needs map[int][]int
	// order is one in which everything comes after what it needs.
	order []int
}

// planBatch finds the requests and their order. Unknown ones, circles, and what depends on something
// that is neither in the batch nor done are refused by name.
func planBatch(ctx context.Context, p *command.Project, refs []string) (*batchPlan, error) {
	plan := &batchPlan{requests: map[int]forge.Request{}, needs: map[int][]int{}}
	var unknown []string
	for _, ref := range refs {
		request, err := p.Forge.Request(ctx, p.FromHere(ref))
		switch {
		case errors.Is(err, forge.ErrNotFound):
			unknown = append(unknown, ref)
		case err != nil:
			return nil, wire.Explained(err)
		default:
			plan.requests[request.Number] = request
		}
	}
	if len(unknown) > 0 {
		return nil, &problem.Error{Err: fmt.Errorf("there is no request %s", strings.Trim(fmt.Sprintf("%q", unknown), "[]")), Hint: `see which requests there are: signalbox list`, Code: problem.NotFound}
	}
	for n, request := range plan.requests {
		needs, err := batchNeeds(ctx, p, plan, request)
		if err != nil {
			return nil, err
		}
		plan.needs[n] = needs
	}
	return plan, plan.sort()
}

func batchNeeds(ctx context.Context, p *command.Project, plan *batchPlan, request forge.Request) (needs []int, err error) {
	for _, ref := range request.DependsOn {
		needed, err := p.Forge.Request(ctx, ref)
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("request %d depends on %q: %w", request.Number, ref, err), Code: problem.CodeOf(err),
				Hint: "fix depends_on in " + request.Path}
		}
		if _, ours := plan.requests[needed.Number]; ours {
			needs = append(needs, needed.Number)
			continue
		}
		done, err := isComplete(ctx, p, needed)
		if err != nil {
			return nil, err
		}
		if !done {
			return nil, &problem.Error{Err: fmt.Errorf("request %d depends on %d, which is neither in the batch nor complete", request.Number, needed.Number),
				Hint: fmt.Sprintf("take it into the batch, or do it first: signalbox session start %d", needed.Number)}
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs), nil
}

// isComplete reports a recorded success: the request is merged, or its status says so.
func isComplete(ctx context.Context, p *command.Project, request forge.Request) (bool, error) {
	status, err := p.Store.IssueStatus(request.Number).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return request.Closed || status.Status == registry.IssueComplete, wire.Explained(err)
}

// sort orders by waves, and by number within each.
func (b *batchPlan) sort() error {
	for len(b.order) < len(b.requests) {
		wave := b.ready()
		if len(wave) == 0 {
			circle := b.circle()
			if len(circle) == 2 {
				return &problem.Error{Err: fmt.Errorf("request %d depends on itself", circle[0]), Hint: "fix depends_on in " + b.requests[circle[0]].Path}
			}
			return &problem.Error{Err: fmt.Errorf("requests depend on each other in a circle: %s", numbers(circle)), Hint: "fix their depends_on"}
		}
		b.order = append(b.order, wave...)
	}
	return nil
}

// ready are those not in the order whose needs all are.
func (b *batchPlan) ready() (wave []int) {
	for n, needs := range b.needs {
		missing := slices.ContainsFunc(needs, func(need int) bool { return !slices.Contains(b.order, need) })
		if !missing && !slices.Contains(b.order, n) {
			wave = append(wave, n)
		}
	}
	slices.Sort(wave)
	return wave
}

// circle is one, from a request that cannot be ordered along what it needs until one comes twice.
func (b *batchPlan) circle() (walked []int) {
	var left []int
	for n := range b.requests {
		if !slices.Contains(b.order, n) {
			left = append(left, n)
		}
	}
	at := slices.Min(left)
	for !slices.Contains(walked, at) {
		walked = append(walked, at)
		at = b.needs[at][slices.IndexFunc(b.needs[at], func(n int) bool { return slices.Contains(left, n) })]
	}
	return append(walked[slices.Index(walked, at):], at)
}

// waves are what can be done at once, wave by wave.
func (b *batchPlan) waves() [][]int {
	level, waves := map[int]int{}, [][]int{}
	for _, n := range b.order {
		for _, need := range b.needs[n] {
			level[n] = max(level[n], level[need]+1)
		}
		if level[n] == len(waves) {
			waves = append(waves, nil)
		}
		waves[level[n]] = append(waves[level[n]], n)
	}
	return waves
}
