package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// Plan is a batch of requests and their order.
type Plan struct {
	Requests map[int]forge.Request
	// needs are the requests of the batch on which each one depends.
	needs map[int][]int
	// Order has every request after those that it needs.
	Order []int
}

// Plan finds the requests and their order. It refuses unknown requests, circles, and requests that depend on one which is neither in
// the batch nor complete, and names them.
func (s *Sessions) Plan(ctx context.Context, refs []string) (*Plan, error) {
	plan := &Plan{Requests: map[int]forge.Request{}, needs: map[int][]int{}}
	var unknown []string
	for _, ref := range refs {
		request, err := s.Named(ctx, ref)
		switch {
		case errors.Is(err, forge.ErrNotFound):
			unknown = append(unknown, ref)
		case err != nil:
			return nil, wire.Explained(err)
		default:
			plan.Requests[request.Number] = request
		}
	}
	if len(unknown) > 0 {
		return nil, &problem.Error{Err: fmt.Errorf("there is no request %s", strings.Trim(fmt.Sprintf("%q", unknown), "[]")), Hint: `see which requests there are: signalbox list`, Code: problem.NotFound}
	}
	for n, request := range plan.Requests {
		needs, err := s.needed(ctx, plan, request)
		if err != nil {
			return nil, err
		}
		plan.needs[n] = needs
	}
	return plan, plan.sort()
}

// needed are the requests of the batch on which one depends.
func (s *Sessions) needed(ctx context.Context, plan *Plan, request forge.Request) (needs []int, err error) {
	for _, ref := range request.DependsOn {
		needed, err := s.Forge.Request(ctx, ref)
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("request %d depends on %q: %w", request.Number, ref, err), Code: problem.CodeOf(err),
				Hint: "fix depends_on in " + request.Path}
		}
		if _, ours := plan.Requests[needed.Number]; ours {
			needs = append(needs, needed.Number)
			continue
		}
		done, err := s.Complete(ctx, needed)
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

// sort orders the requests by waves, and by number within each.
func (p *Plan) sort() error {
	for len(p.Order) < len(p.Requests) {
		var wave []int
		for n, needs := range p.needs {
			missing := slices.ContainsFunc(needs, func(need int) bool { return !slices.Contains(p.Order, need) })
			if !missing && !slices.Contains(p.Order, n) {
				wave = append(wave, n)
			}
		}
		slices.Sort(wave)
		if len(wave) == 0 {
			return p.circle()
		}
		p.Order = append(p.Order, wave...)
	}
	return nil
}

// circle names a circle of dependencies within the batch.
func (p *Plan) circle() error {
	var batch []forge.Request
	for n, needs := range p.needs {
		request := forge.Request{ID: strconv.Itoa(n), Number: n, Path: p.Requests[n].Path}
		for _, need := range needs {
			request.DependsOn = append(request.DependsOn, strconv.Itoa(need))
		}
		batch = append(batch, request)
	}
	slices.SortFunc(batch, func(a, b forge.Request) int { return a.Number - b.Number })
	for _, request := range batch {
		if err := app.Circle(request, batch); err != nil {
			return err
		}
	}
	return errors.New("the requests can't be ordered")
}

// Waves are the requests that can be done at the same time, wave by wave.
func (p *Plan) Waves() [][]int {
	level, waves := map[int]int{}, [][]int{}
	for _, n := range p.Order {
		for _, need := range p.needs[n] {
			level[n] = max(level[n], level[need]+1)
		}
		if level[n] == len(waves) {
			waves = append(waves, nil)
		}
		waves[level[n]] = append(waves[level[n]], n)
	}
	return waves
}

// Numbers lists requests: "#41 #42".
func Numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprintf("#%d", n)
	}
	return strings.Join(words, " ")
}
