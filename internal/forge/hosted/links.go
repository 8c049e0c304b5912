package hosted

import (
	"context"
	"errors"
	"fmt"
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
func (f *Forge) closeParents(ctx context.Context, number int) error {
	server, tells := f.Server.(forge.Linked)
	if !tells {
		return nil
	}
	for range maxParents {
		links, err := server.Links(ctx, number)
		if err != nil || links.Parent == 0 {
			return err
		}
		closed := number
		number = links.Parent
		parent, err := f.Server.Issue(ctx, number)
		if errors.Is(err, forge.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if links, err = server.Links(ctx, number); err != nil {
			return err
		}
		var names []string
		for _, part := range links.Parts {
			if !part.Closed && part.Number != closed { // the server may not count it yet
				return nil
			}
			names = append(names, fmt.Sprintf("- #%d %s", part.Number, redact.Line(part.Title, maxTitle)))
			if part.Number == 0 {
				names[len(names)-1] = "- " + redact.Line(part.Page, maxAddress)
			}
		}
		if parent.Closed {
			continue
		}
		if latest, err := f.Store.LatestRun(ctx, strconv.Itoa(number)); err == nil && !latest.Run.State.Final() {
			return nil
		}
		if err := f.remark(ctx, forge.OnIssue(number), partsKey, "All parts of this issue are done:\n\n"+strings.Join(names, "\n")); err != nil {
			return err
		}
		if err := f.Server.CloseIssue(ctx, number); err != nil {
			return err
		}
	}
	return nil
}
