package hosted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// Limits of what is read: issues in a list, our own that are searched for a key, bytes of a body, labels.
const (
	maxListed    = 500
	maxSearched  = 200
	maxRequest   = 256 << 10
	maxLabels    = 100
	maxLabelText = 100
)

// issuesKind is where this machine's records about issues are: opened.json, <number>.json or pull-<number>.json for our comments, and
// queued-<number>.json.
const issuesKind = "issues"

var (
	issueNumber = lazy.Expression{Text: `^#?([1-9]\d{0,8})$`}
	issuePage   = lazy.Expression{Text: `^/(?:-/)?(?:issues|work_items)/([1-9]\d{0,8})(?:[/?#].*)?$`}
)

// absentError names a missing issue.
type absentError string

func (e absentError) Error() string {
	return fmt.Sprintf("there is no issue %q", redact.Line(string(e), maxTitle))
}
func (absentError) Is(target error) bool { return target == forge.ErrNotFound }

// Request returns the issue with this number ("42" or "#42") or page.
func (f *Forge) Request(ctx context.Context, ref string) (forge.Request, error) {
	issue, err := f.issue(ctx, ref)
	if err != nil {
		return forge.Request{}, err
	}
	return requestOf(issue), nil
}

func (f *Forge) issue(ctx context.Context, ref string) (forge.Issue, error) {
	number, err := f.numberOf(ctx, ref)
	if err != nil {
		return forge.Issue{}, err
	}
	issue, err := f.Server.Issue(ctx, number)
	if errors.Is(err, forge.ErrPull) {
		return issue, fmt.Errorf("%q is no issue: %w", redact.Line(ref, maxTitle), forge.ErrPull)
	}
	if errors.Is(err, forge.ErrNotFound) {
		return issue, absentError(ref)
	}
	return issue, err
}

func (f *Forge) numberOf(ctx context.Context, ref string) (int, error) {
	found := issueNumber.Regexp().FindStringSubmatch(ref)
	if strings.HasPrefix(ref, "https://") || strings.HasPrefix(ref, "http://") {
		repository, err := f.Server.Repository(ctx)
		if err != nil {
			return 0, fmt.Errorf("ask the forge for the repository: %w", err)
		}
		if page, ok := strings.CutPrefix(ref, repository.Page); ok {
			found = issuePage.Regexp().FindStringSubmatch(page)
		}
	}
	if found == nil {
		return 0, absentError(ref)
	}
	return strconv.Atoi(found[1])
}

// requestOf cleans an issue's texts.
func requestOf(issue forge.Issue) forge.Request {
	r := forge.Request{ID: strconv.Itoa(issue.Number), Number: issue.Number, Title: redact.Line(issue.Title, maxTitle),
		Body: strings.TrimSpace(visible(unmarked(redact.Cut(redact.Clean(issue.Body), maxRequest)))), Closed: issue.Closed}
	for _, label := range issue.Labels[:min(len(issue.Labels), maxLabels)] {
		r.Labels = append(r.Labels, redact.Line(label, maxLabelText))
	}
	r.Priority, r.Size = forge.PriorityOf(r.Labels), forge.SizeOf(r.Labels)
	readText(&r)
	return r
}

// Requests returns the open issues, sorted by number.
func (f *Forge) Requests(ctx context.Context) ([]forge.Request, error) {
	issues, err := f.Server.Issues(ctx, forge.Query{}, maxListed)
	if err != nil {
		return nil, err
	}
	var requests []forge.Request
	for _, issue := range issues {
		requests = append(requests, requestOf(issue))
	}
	slices.SortFunc(requests, func(a, b forge.Request) int { return cmp.Compare(a.Number, b.Number) })
	return requests, nil
}

// opened is which issue each key opened, as far as this machine knows.
type opened struct {
	Numbers map[string]int `json:"numbers"`
}

// OpenRequest opens an issue, once per key. The record keeps callers on this machine apart; the marker finds what another machine opened, or
// what was opened here without an answer.
func (f *Forge) OpenRequest(ctx context.Context, key, title, body string) (forge.Request, error) {
	title = heading(title)
	if key == "" || title == "" {
		return forge.Request{}, errors.New("open issue: a key and a title are needed")
	}
	var issue forge.Issue
	number := 0
	err := store.Record[opened](f.Store, issuesKind, "opened").Update(ctx, func(o *opened) (err error) {
		if number = o.Numbers[key]; number != 0 {
			return nil
		}
		mark := mark("request", key)
		if issue, err = f.issueWith(ctx, mark); errors.Is(err, forge.ErrNotFound) {
			issue, err = f.Server.CreateIssue(ctx, title, marked(mark, body))
		}
		if err != nil {
			return err
		}
		if o.Numbers == nil {
			o.Numbers = map[string]int{}
		}
		o.Numbers[key] = issue.Number
		return nil
	})
	if err == nil && number != 0 {
		issue, err = f.Server.Issue(ctx, number)
		if errors.Is(err, forge.ErrNotFound) { // a person removed it
			issue, err = forge.Issue{Number: number, Title: title, Body: body, Closed: true}, nil
		}
	}
	if err != nil {
		return forge.Request{}, fmt.Errorf("open issue: %w", err)
	}
	return requestOf(issue), nil
}

// issueWith returns the first of our own issues that begins with the marker, or ErrNotFound.
func (f *Forge) issueWith(ctx context.Context, mark string) (forge.Issue, error) {
	me, err := f.account(ctx)
	if err != nil {
		return forge.Issue{}, err
	}
	issues, err := f.Server.Issues(ctx, forge.Query{Author: me.Name, State: "all"}, maxSearched)
	if err != nil {
		return forge.Issue{}, err
	}
	for _, issue := range slices.Backward(issues) { // the newest comes first
		if issue.Author == me.Name && strings.HasPrefix(issue.Body, mark) {
			return issue, nil
		}
	}
	return forge.Issue{}, forge.ErrNotFound
}

// CloseRequest closes the issue, and those of which it was the last open part. The progress comment names the commit.
func (f *Forge) CloseRequest(ctx context.Context, request forge.Request, _ string) error {
	err := f.Server.CloseIssue(ctx, request.Number)
	if failed := (*forge.Failure)(nil); errors.As(err, &failed) && failed.Kind == forge.Forbidden {
		if repository, unknown := f.Server.Repository(ctx); unknown == nil && !repository.MayPush { // who merged the change closes it
			f.Logger.InfoContext(ctx, "leave the issue open: only others may close it", "issue", request.Number)
			return nil
		}
	}
	if err != nil {
		return err
	}
	if err := f.unlessRefused(ctx, "close the parent issue", f.closeParents(ctx, request)); err != nil {
		return fmt.Errorf("close the parent of issue %d: %w", request.Number, err)
	}
	return nil
}
