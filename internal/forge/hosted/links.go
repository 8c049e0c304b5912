package hosted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// link adds to a request what the server links to it by itself.
func (f *Forge) link(ctx context.Context, r *forge.Request) error {
	server, tells := f.Server.(forge.Linked)
	if !tells {
		return nil
	}
	links, err := server.Links(ctx, r.Number)
	if err != nil {
		return err
	}
	for _, number := range links.Needs {
		r.DependsOn = append(r.DependsOn, strconv.Itoa(number))
	}
	related := r.Related
	if links.Parent != 0 {
		related = append(related, forge.Related{Number: links.Parent, Parent: true})
	}
	for _, part := range links.Parts {
		if part.Number != 0 {
			related = append(related, forge.Related{Number: part.Number})
		}
	}
	r.DependsOn, r.Related = distinct(r.DependsOn, maxNeeded), distinct(related, maxRelated)
	return nil
}

// maxParents is how many parents, each of the one before, are closed with the last of their parts. GitHub has at most eight.
const maxParents = 8

// partsKey is the key of the comment on a parent that is closed with its parts.
const partsKey = "signalbox/parts"

// closeParents closes the issue of which this one was the last open part, and so on. One that a run works on is closed by that run.
func (f *Forge) closeParents(ctx context.Context, part forge.Request) error {
	for range maxParents {
		closed := part.Number
		parent, parts, err := f.parent(ctx, part)
		if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrPull) {
			return nil
		}
		if err != nil || parent.Number == 0 {
			return err
		}
		var names []string
		for _, part := range parts {
			if !part.Closed && part.Number != closed { // the server may not count it yet
				return nil
			}
			names = append(names, fmt.Sprintf("- #%d %s", part.Number, redact.Line(part.Title, maxTitle)))
			if part.Number == 0 {
				names[len(names)-1] = "- " + redact.Line(part.Page, maxAddress)
			}
		}
		if part = requestOf(parent); parent.Closed {
			continue
		}
		if latest, err := f.Store.LatestRun(ctx, strconv.Itoa(parent.Number)); err == nil && !latest.Run.State.Final() {
			return nil
		}
		if err := f.remark(ctx, forge.OnIssue(parent.Number), partsKey, "All parts of this issue are done:\n\n"+strings.Join(names, "\n")); err != nil {
			return err
		}
		if err := f.Server.CloseIssue(ctx, parent.Number); err != nil {
			return err
		}
	}
	return nil
}

// parent returns the issue of which one is a part, with all its parts: as the server links them or, if it links none, as the texts of both say. It
// is none without a number.
func (f *Forge) parent(ctx context.Context, part forge.Request) (parent forge.Issue, parts []forge.Issue, err error) {
	var links forge.Links
	server, tells := f.Server.(forge.Linked)
	if tells {
		if links, err = server.Links(ctx, part.Number); err != nil {
			return parent, nil, err
		}
	}
	if links.Parent == 0 {
		for _, related := range part.Related {
			if related.Parent {
				return f.declaredParent(ctx, part.Number, related.Number)
			}
		}
		return parent, nil, nil
	}
	if parent, err = f.Server.Issue(ctx, links.Parent); err == nil {
		links, err = server.Links(ctx, parent.Number)
	}
	return parent, links.Parts, err
}

// declaredParent returns the parent that an issue's text names, if the parent's text has the issue on its list of tasks and is by someone who may
// write: a text alone closes no issue of others. A task that is no issue of this repository, and is not ticked, is a part that no run can close.
func (f *Forge) declaredParent(ctx context.Context, part, number int) (none forge.Issue, parts []forge.Issue, err error) {
	parent, err := f.Server.Issue(ctx, number)
	if err != nil {
		return none, nil, err
	}
	numbers, open := tasksIn(requestOf(parent).Body)
	if open || len(parent.Body) > maxRequest || !slices.Contains(numbers, part) {
		return none, nil, nil
	}
	if may, err := f.MayOrder(ctx, parent.Author); err != nil || !may {
		return none, nil, err
	}
	for _, number := range numbers {
		one, err := f.Server.Issue(ctx, number)
		if err != nil {
			return none, nil, err
		}
		if parts = append(parts, one); !one.Closed && number != part {
			break // the others cost a call each
		}
	}
	return parent, parts, nil
}
