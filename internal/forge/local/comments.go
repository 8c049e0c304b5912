package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// note holds our comments on a request. It is a separate file, because the request's own belongs to its
// author and is never written.
type note struct {
	ID          string     `json:"id"`
	Number      int        `json:"number"`
	Closed      bool       `json:"closed"`
	ClosedAt    *time.Time `json:"closed_at"`
	MergeCommit string     `json:"merge_commit,omitempty"`
	Comments    []comment  `json:"comments,omitempty"`
}

type comment struct {
	// Key identifies the comment, so that it can be edited in place.
	Key       string    `json:"key"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (f *Forge) note(number int) *store.Document[note] {
	return store.Record[note](f.store, "requests", strconv.Itoa(number))
}

// closed reports whether the request is marked as done.
func (f *Forge) closed(ctx context.Context, request forge.Request) (bool, error) {
	n, err := f.note(request.Number).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && n.ID != "" && n.ID != request.ID {
		err = numberTaken(request, n.ID)
	}
	return n.Closed && n.ID == request.ID, err
}

// Comment adds body to the request's comments, or replaces the comment with the same key.
func (f *Forge) Comment(ctx context.Context, request forge.Request, key, body string) error {
	if key == "" {
		return fmt.Errorf("comment on request %s: the comment has no key", request.ID)
	}
	return f.annotate(ctx, request, func(n *note) {
		now := f.now().UTC()
		i := slices.IndexFunc(n.Comments, func(c comment) bool { return c.Key == key })
		switch {
		case i < 0:
			n.Comments = append(n.Comments, comment{Key: key, Body: body, CreatedAt: now, UpdatedAt: now})
		case n.Comments[i].Body != body:
			n.Comments[i].Body, n.Comments[i].UpdatedAt = body, now
		}
	})
}

// CloseRequest marks the request as done. Closing it again changes nothing.
func (f *Forge) CloseRequest(ctx context.Context, request forge.Request, mergeCommit string) error {
	return f.annotate(ctx, request, func(n *note) {
		if !n.Closed {
			now := f.now().UTC()
			n.Closed, n.ClosedAt, n.MergeCommit = true, &now, mergeCommit
		}
	})
}

// ErrNumberTaken: the number belonged to another request before, whose branches, comments and state use
// it.
var ErrNumberTaken = errors.New("the number belongs to another request")

func numberTaken(request forge.Request, owner string) error {
	return fmt.Errorf("%w: %d of %s was that of %s (.signalbox/requests/%d.json): give the new request a number of its own", ErrNumberTaken,
		request.Number, request.Path, owner, request.Number)
}

// annotate changes the note, or returns ErrNumberTaken.
func (f *Forge) annotate(ctx context.Context, request forge.Request, change func(*note)) error {
	err := f.note(request.Number).Update(ctx, func(n *note) error {
		if n.ID != "" && n.ID != request.ID {
			return numberTaken(request, n.ID)
		}
		n.ID, n.Number = request.ID, request.Number
		change(n)
		return nil
	})
	if err != nil {
		return fmt.Errorf("note on request %s: %w", request.ID, err)
	}
	return nil
}
