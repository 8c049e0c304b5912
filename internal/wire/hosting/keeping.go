package hosting

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

var _ forge.Keeping = (*Forge)(nil)

// kept is an issue as a run saw it first.
type kept struct {
	// Run is empty if the next run that asks takes it: as it was ordered if Order is set, as it is then otherwise.
	Run     string        `json:"run"`
	Order   string        `json:"order,omitempty"`
	Request forge.Request `json:"request"`
}

// keptOf is the record of an issue: .signalbox/issues/<number>-request.json.
func (f *Forge) keptOf(number int) *store.Document[kept] {
	return store.Record[kept](f.config.Store, "issues", strconv.Itoa(number)+"-request")
}

// Keep implements forge.Keeping. Anyone may edit their own issue and comment on it while a run works, and a process that is killed reads again:
// the next one must see what the first one saw. A file belongs to the project's people and is read as it is.
func (f *Forge) Keep(ctx context.Context, run, ref string) (forge.Request, error) {
	number, err := f.issueOf(ctx, ref)
	if err != nil || number == 0 {
		return f.Request(ctx, ref)
	}
	record := f.keptOf(number)
	was, err := record.Load(ctx)
	if err == nil && was.Run == run {
		return was.Request, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return forge.Request{}, err
	}
	request := was.Request
	if was.Order == "" {
		b, err := f.open(ctx)
		if err != nil {
			return forge.Request{}, err
		}
		if request, err = b.forge.Discussed(ctx, ref); err != nil {
			return request, b.explained(err, readIssues)
		}
		f.redact(&request)
	}
	err = record.Update(ctx, func(now *kept) error {
		if now.Run == run || now.Order != "" {
			request = now.Request
		}
		*now = kept{Run: run, Request: request}
		return nil
	})
	return request, err
}

// Pin has the next run that asks for an issue, or the run that an order continues, take it as it was when the order was given. It is an
// *forge.EditedError if that is not known.
func (f *Forge) Pin(ctx context.Context, order forge.Order, number int) error {
	b, err := f.open(ctx)
	if err != nil {
		return err
	}
	request, err := b.forge.Ordered(ctx, order, number)
	if err != nil {
		return b.explained(err, readIssues)
	}
	f.redact(&request)
	return f.keptOf(number).Update(ctx, func(now *kept) error {
		*now = kept{Order: order.ID, Request: request}
		return nil
	})
}

// Unpin has the next run that asks for an issue take it as it is then, unless a run took it as it was ordered.
func (f *Forge) Unpin(ctx context.Context, number int) error {
	if was, err := f.keptOf(number).Load(ctx); errors.Is(err, fs.ErrNotExist) || err == nil && was.Order == "" {
		return nil
	}
	return f.keptOf(number).Update(ctx, func(now *kept) error {
		if now.Order != "" {
			*now = kept{}
		}
		return nil
	})
}

// pinned returns an issue as it was ordered, if the run that begins next takes it so: it's named by its title.
func (f *Forge) pinned(ctx context.Context, live forge.Request) forge.Request {
	if live.Path != "" {
		return live
	}
	was, err := f.keptOf(live.Number).Load(ctx)
	if err != nil || was.Order == "" {
		return live
	}
	was.Request.Closed = live.Closed
	return was.Request
}

// redact takes secrets out of what is kept on disk.
func (f *Forge) redact(r *forge.Request) {
	r.Title, r.Body = f.config.Redact.String(r.Title), f.config.Redact.String(r.Body)
	for i := range r.Labels {
		r.Labels[i] = f.config.Redact.String(r.Labels[i])
	}
	for i := range r.Said {
		r.Said[i].Author, r.Said[i].Body = f.config.Redact.String(r.Said[i].Author), f.config.Redact.String(r.Said[i].Body)
	}
	for i := range r.Attachments {
		r.Attachments[i].Name, r.Attachments[i].Address = f.config.Redact.String(r.Attachments[i].Name), f.config.Redact.String(r.Attachments[i].Address)
	}
	for i := range r.Related {
		r.Related[i].Title = f.config.Redact.String(r.Related[i].Title)
	}
}

// Renew implements forge.Keeping.
func (f *Forge) Renew(ctx context.Context, ref string) error {
	number, err := f.issueOf(ctx, ref)
	if err != nil || number == 0 {
		return err
	}
	if _, err := f.keptOf(number).Load(ctx); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.keptOf(number).Update(ctx, func(now *kept) error {
		now.Run, now.Order = "", ""
		return nil
	})
}
