package intake_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/hosted"
)

// world is a forge in memory: what people wrote, and who may write. It cuts calls where a test says so.
type world struct {
	forge.Server
	now       time.Time
	last      int64
	issues    map[int]*forge.Issue
	remarks   map[forge.Subject][]forge.Remark
	labelings map[int][]forge.Labeling
	writers   []string
	eyes      map[int64]int
	// edits has the issues whose texts were edited; pinned are those that runs were ordered with.
	edits  map[int]forge.LastEdit
	pinned map[int]forge.Request
	// cut says whether the next call is lost before it is performed, or its answer after that.
	cut func() (before, after bool)
}

const me = forgetest.Me

func newWorld() *world {
	w := &world{now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), issues: map[int]*forge.Issue{}, remarks: map[forge.Subject][]forge.Remark{}, labelings: map[int][]forge.Labeling{},
		writers: []string{"ada", "grace", me}, eyes: map[int64]int{}, edits: map[int]forge.LastEdit{}, pinned: map[int]forge.Request{}}
	for n := range 3 {
		w.issues[n+41] = &forge.Issue{Number: n + 41, Title: fmt.Sprintf("Issue %d", n+41), Author: "mallory", UpdatedAt: w.now.Add(-time.Hour)}
	}
	return w
}

var errCut = errors.New("the connection was cut")

// call performs a call, unless it is lost.
func call[T any](w *world, perform func() (T, error)) (T, error) {
	var none T
	before, after := false, false
	if w.cut != nil {
		before, after = w.cut()
	}
	if before {
		return none, errCut
	}
	answer, err := perform()
	if after {
		return none, errCut
	}
	return answer, err
}

func (w *world) Kind() string { return "github" }

func (w *world) Whoami(context.Context) (forge.Account, error) {
	return call(w, func() (forge.Account, error) { return forge.Account{Name: me}, nil })
}

func (w *world) Issue(_ context.Context, number int) (forge.Issue, error) {
	return call(w, func() (forge.Issue, error) {
		if i := w.issues[number]; i != nil {
			return *i, nil
		}
		return forge.Issue{}, forge.ErrNotFound
	})
}

func (w *world) Remarks(_ context.Context, on forge.Subject) ([]forge.Remark, error) {
	return call(w, func() ([]forge.Remark, error) { return slices.Clone(w.remarks[on]), nil })
}

func (w *world) CreateRemark(_ context.Context, on forge.Subject, body string) (forge.Remark, error) {
	return call(w, func() (forge.Remark, error) { return w.write(on.Number, me, body), nil })
}

func (w *world) EditRemark(_ context.Context, on forge.Subject, id int64, body string) error {
	_, err := call(w, func() (int, error) {
		for n, r := range w.remarks[on] {
			if r.ID == id {
				w.remarks[on][n].Body = body
			}
		}
		return 0, nil
	})
	return err
}

func (w *world) MayWrite(_ context.Context, account string) (bool, error) {
	return call(w, func() (bool, error) { return slices.Contains(w.writers, account), nil })
}

func (w *world) Acknowledge(_ context.Context, r forge.Remark) error {
	_, err := call(w, func() (int, error) {
		w.eyes[r.ID]++
		return 0, nil
	})
	return err
}

func (w *world) Labelings(_ context.Context, number int) ([]forge.Labeling, error) {
	return call(w, func() ([]forge.Labeling, error) { return slices.Clone(w.labelings[number]), nil })
}

func (w *world) LastEdit(_ context.Context, number int) (forge.LastEdit, error) {
	return call(w, func() (forge.LastEdit, error) { return w.edits[number], nil })
}

func (w *world) Changes(_ context.Context, since time.Time) ([]forge.Change, error) {
	return call(w, func() (found []forge.Change, _ error) {
		for n, i := range w.issues {
			if !i.UpdatedAt.Before(since) {
				found = append(found, forge.Change{On: forge.OnIssue(n), UpdatedAt: i.UpdatedAt, Closed: i.Closed})
			}
		}
		slices.SortFunc(found, func(a, b forge.Change) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
		return found, nil
	})
}

// write writes a comment.
func (w *world) write(number int, author, body string) forge.Remark {
	w.last++
	r := forge.Remark{ID: w.last, On: forge.OnIssue(number), Author: author, Body: body, ByBot: strings.HasSuffix(author, "[bot]"), CreatedAt: w.now, ChangedAt: w.now}
	w.remarks[r.On] = append(w.remarks[r.On], r)
	w.issues[number].UpdatedAt = w.now
	return r
}

// label sets the label.
func (w *world) label(number int, by, label string) {
	w.last++
	w.labelings[number] = append(w.labelings[number], forge.Labeling{ID: w.last, Label: label, By: by, At: w.now, ByBot: strings.HasSuffix(by, "[bot]")})
	w.issues[number].UpdatedAt = w.now
}

// side is the forge as an intake asks it.
type side struct {
	*hosted.Forge
	w *world
}

func (s side) Orders(ctx context.Context, on forge.Subject, after time.Time) ([]forge.Order, error) {
	return s.Forge.Orders(ctx, on, "signalbox", after)
}

func (s side) Changes(ctx context.Context, since time.Time) ([]forge.Change, error) {
	return s.w.Changes(ctx, since)
}

func (s side) Pin(ctx context.Context, order forge.Order, number int) error {
	r, err := s.Ordered(ctx, order, number)
	if err == nil {
		s.w.pinned[number] = r
	}
	return err
}

func (s side) Unpin(_ context.Context, number int) error {
	delete(s.w.pinned, number)
	return nil
}

const secret = "the-webhook-s-secret"

// message is a webhook of GitHub about a comment on an issue.
func message(number int, repository, sender, signedWith string) *http.Request {
	body, err := json.Marshal(map[string]any{"action": "created", "repository": map[string]any{"full_name": repository}, "sender": map[string]any{"login": sender, "type": "User"},
		"issue": map[string]any{"number": number}, "comment": map[string]any{"user": map[string]any{"login": sender, "type": "User"}, "body": "/signalbox run"}})
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/webhook", bytes.NewReader(body))
	r.Header.Set("X-GitHub-Event", "issue_comment")
	r.Header.Set("X-GitHub-Delivery", "1")
	if signedWith != "" {
		mac := hmac.New(sha256.New, []byte(signedWith))
		mac.Write(body)
		r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return r
}
