package hosted

import (
	"context"
	"slices"
	"strconv"
	"time"

	"signalbox/internal/forge"
)

// maxAsked is how many accounts are asked about that wrote comments after an order.
const maxAsked = 20

// Ordered returns what Discussed returns of an issue, as it was when the order was given: what its author has not seen was not ordered. It is an
// *forge.EditedError if title or body were edited later, or may have been. Comments that are newer, or were edited later, are left out unless
// their authors may give orders themselves.
func (f *Forge) Ordered(ctx context.Context, order forge.Order, number int) (forge.Request, error) {
	issue, err := f.issue(ctx, strconv.Itoa(number))
	if err != nil {
		return forge.Request{}, err
	}
	r, err := f.discussed(ctx, issue, &ordered{Order: order, forge: f, may: map[string]bool{}})
	if err != nil {
		return r, err
	}
	// It is asked after the text was read, so an edit in between counts as one after the order.
	last, err := f.lastEdit(ctx, number)
	switch {
	case err != nil:
		return r, err
	case last.Exact || order.Seen == "":
	case order.Seen == issue.Sum(): // whatever changed since
		return r, nil
	default:
		return r, &forge.EditedError{LastEdit: forge.LastEdit{At: last.At, Exact: true}}
	}
	if last.After(order.At) {
		return r, &forge.EditedError{LastEdit: last}
	}
	return r, nil
}

func (f *Forge) lastEdit(ctx context.Context, number int) (forge.LastEdit, error) {
	if server, tells := f.Server.(forge.Dated); tells {
		return server.LastEdit(ctx, number)
	}
	issue, err := f.Server.Issue(ctx, number)
	return forge.LastEdit{At: issue.UpdatedAt}, err
}

// ordered is an order as of which an issue is read; nil for none.
type ordered struct {
	forge.Order
	forge *Forge
	// may has the accounts that were asked about.
	may map[string]bool
}

// older reports whether something that changed last at a time was seen by the order's author.
func (o *ordered) older(changed time.Time) bool { return o == nil || changed.Before(o.At) }

// counts reports whether the comment at a place of the list, which has the oldest first, was there when the order was given, or is by someone who may order.
func (o *ordered) counts(ctx context.Context, remarks []forge.Remark, place int) (bool, error) {
	if o == nil {
		return true, nil
	}
	r := remarks[place]
	above := slices.ContainsFunc(remarks[place:], func(later forge.Remark) bool { return o.Remark.ID != 0 && later.ID == o.Remark.ID && later.On == o.On })
	if (above || r.CreatedAt.Before(o.At)) && (r.ChangedAt.Before(o.At) || above && r.ChangedAt.Equal(r.CreatedAt)) {
		return true, nil
	}
	may, asked := o.may[r.Author]
	if asked || len(o.may) == maxAsked {
		return may, nil
	}
	may, err := o.forge.MayOrder(ctx, r.Author)
	if err == nil {
		o.may[r.Author] = may
	}
	return may, err
}
