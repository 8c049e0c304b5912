package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/problem"
)

// CheckDependencies refuses a request that waits for one that can never be merged before it: one that doesn't exist, or that waits for it
// in turn. all are the project's requests.
func CheckDependencies(r forge.Request, all []forge.Request) error {
	known, open := map[string]bool{}, []forge.Request{}
	for _, other := range all {
		known[other.ID], known[strconv.Itoa(other.Number)] = true, true
		if !other.Closed {
			open = append(open, other)
		}
	}
	for _, ref := range r.DependsOn {
		if !known[ref] {
			return &problem.Error{Err: fmt.Errorf("request %d depends on %q, and there is no such request", r.Number, ref), Hint: whereDepends(&r), Code: problem.NotFound}
		}
	}
	return Circle(r, open)
}

// whereDepends says where to change what a request depends on.
func whereDepends(r *forge.Request) string {
	if r.Path == "" {
		return fmt.Sprintf(`change "depends on" in the text of issue %d`, r.Number)
	}
	return "fix depends_on in " + r.Path
}

// maxAround is how many issues are read to find a circle of dependencies. A longer one waits for ever, and says for what.
const maxAround = 30

// around returns the requests among which one's dependencies are: all files, or the issues that an issue needs, and those that they need.
func (p *App) around(ctx context.Context, r forge.Request) ([]forge.Request, error) {
	if p.Hosted == nil || r.Path != "" {
		return p.Forge.Requests(ctx)
	}
	found := []forge.Request{r}
	for i := 0; i < len(found) && len(found) < maxAround; i++ {
		for _, ref := range found[i].DependsOn {
			if slices.ContainsFunc(found, func(o forge.Request) bool { return o.ID == ref }) {
				continue
			}
			other, err := p.Forge.Request(ctx, ref)
			if errors.Is(err, forge.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found = append(found, other)
		}
	}
	return found, nil
}

// Circle refuses a request that depends on itself, also by way of others of all.
func Circle(r forge.Request, all []forge.Request) error {
	known := map[string]*forge.Request{}
	for i := range all {
		known[all[i].ID], known[strconv.Itoa(all[i].Number)] = &all[i], &all[i]
	}
	circle := circleOf(&r, r.ID, known, map[string]bool{})
	if circle == nil {
		return nil
	}
	err := fmt.Errorf("request %d depends on itself", r.Number)
	if len(circle) > 1 {
		err = fmt.Errorf("requests depend on each other in a circle: %s %s", strings.Join(circle, " "), circle[0])
	}
	return &problem.Error{Err: err, Hint: whereDepends(&r)}
}

// circleOf are the numbers of the requests from r to the one named begin, if r waits for that one, and seen those that were looked at.
func circleOf(r *forge.Request, begin string, known map[string]*forge.Request, seen map[string]bool) []string {
	own := []string{"#" + strconv.Itoa(r.Number)}
	for _, ref := range r.DependsOn {
		needed := known[ref]
		if needed == nil || seen[needed.ID] {
			continue
		}
		if needed.ID == begin {
			return own
		}
		seen[needed.ID] = true
		if rest := circleOf(needed, begin, known, seen); rest != nil {
			return append(own, rest...)
		}
	}
	return nil
}
