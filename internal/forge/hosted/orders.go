package hosted

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// Orders returns what people ordered on an issue or a pull request after a time, by comments and by the label, oldest first. Whether they may is
// asked elsewhere. A comment that was changed after it was written is none: its words are not those that its author's permission was asked for.
// Neither is one of a program, and none of ours.
func (f *Forge) Orders(ctx context.Context, on forge.Subject, label string, after time.Time) ([]forge.Order, error) {
	me, err := f.account(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the forge who we are: %w", err)
	}
	remarks, err := f.Server.Remarks(ctx, on)
	if err != nil {
		return nil, err
	}
	var found []forge.Order
	for _, r := range remarks {
		if r.ByBot || r.Edited || r.CreatedAt.Before(after) || r.Author == "" || r.Author == me.Name && anyMark.Regexp().MatchString(r.Body) {
			continue
		}
		if order, ok := ParseOrder(r.Body); ok {
			order.ID, order.On, order.Remark, order.By, order.At = "comment-"+strconv.FormatInt(r.ID, 10), on, r, r.Author, r.CreatedAt
			found = append(found, order)
		}
	}
	labelled, err := f.labelled(ctx, on, label, after)
	if err != nil {
		return nil, err
	}
	found = append(found, labelled...)
	slices.SortStableFunc(found, func(a, b forge.Order) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return found, nil
}

// labelled are the orders to run that were given by setting the label. An empty label is none.
func (f *Forge) labelled(ctx context.Context, on forge.Subject, label string, after time.Time) (found []forge.Order, err error) {
	server, tells := f.Server.(forge.Labeled)
	if label == "" || !tells || on.Pull {
		return nil, nil
	}
	labelings, err := server.Labelings(ctx, on.Number)
	if err != nil {
		return nil, err
	}
	for _, l := range labelings {
		if strings.EqualFold(l.Label, label) && !l.ByBot && !l.At.Before(after) && l.By != "" {
			found = append(found, forge.Order{ID: "label-" + strconv.FormatInt(l.ID, 10), Verb: forge.VerbRun, On: on, By: l.By, At: l.At})
		}
	}
	return found, nil
}

// MayOrder reports whether an account may write to the repository, as it is now. If the driver can't tell, no one may.
func (f *Forge) MayOrder(ctx context.Context, account string) (bool, error) {
	server, tells := f.Server.(forge.Permitted)
	if !tells {
		return false, nil
	}
	return server.MayWrite(ctx, account)
}

// Acknowledge shows the author of an order that it was seen, if the driver can.
func (f *Forge) Acknowledge(ctx context.Context, order forge.Order) error {
	server, can := f.Server.(forge.Acknowledger)
	if !can || order.Remark.ID == 0 {
		return nil
	}
	return server.Acknowledge(ctx, order.Remark)
}

// Tell writes a comment, once for each key.
func (f *Forge) Tell(ctx context.Context, on forge.Subject, key, body string) error {
	if err := f.remark(ctx, on, key, body); err != nil {
		return fmt.Errorf("comment on %v: %w", on, err)
	}
	return nil
}

// Offered reports whether one of our comments before an order shows the commit: an approval that names none means what its author saw. A comment that was
// edited may have shown another. The forge's order of comments decides, because its clock may differ from ours.
func (f *Forge) Offered(ctx context.Context, order forge.Order, commit string) (bool, error) {
	me, err := f.account(ctx)
	if err != nil {
		return false, err
	}
	remarks, err := f.Server.Remarks(ctx, order.On)
	if err != nil {
		return false, err
	}
	shown := false
	for _, r := range remarks { // oldest first
		if r.ID == order.Remark.ID {
			break
		}
		ours := r.Author == me.Name && anyMark.Regexp().MatchString(r.Body)
		shown = shown || ours && !r.Edited && len(commit) >= shownDigits && strings.Contains(r.Body, commit[:shownDigits])
	}
	return shown, nil
}

// shownDigits is how many digits of a commit a comment shows at least.
const shownDigits = 7

// By is how an order's author is written in words: it mentions no one.
func By(order forge.Order) string { return redact.Line(order.By, maxLabelText) }
