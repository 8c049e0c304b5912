package gitea_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"signalbox/internal/forge"
)

// What changed is listed with comments, and the history says who set a label.
func TestTheServerTellsWhatChangedAndWhoLabelled(t *testing.T) {
	t.Parallel()
	at := newTarget(t)
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := driver.CreateIssue(t.Context(), "First", "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := driver.CreateIssue(t.Context(), "Second", "")
	if err != nil {
		t.Fatal(err)
	}
	me, err := driver.Whoami(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Label(t.Context(), forge.OnIssue(second.Number), []string{"signalbox", "bug"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := driver.Label(t.Context(), forge.OnIssue(second.Number), nil, []string{"bug"}); err != nil {
		t.Fatal(err)
	}
	set, err := driver.Labelings(t.Context(), second.Number)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range set {
		if names = append(names, l.Label); l.By != me.Name || l.ByBot || l.ID == 0 || l.At.IsZero() {
			t.Errorf("a label was set so: %+v", l)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"bug", "signalbox"}) {
		t.Errorf("the labels were set so: %+v", set)
	}
	remark, err := driver.CreateRemark(t.Context(), forge.OnIssue(first.Number), "/signalbox run")
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Acknowledge(t.Context(), remark); err != nil {
		t.Fatal(err)
	}
	changed, err := driver.Changes(t.Context(), remark.CreatedAt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(changed, func(c forge.Change) bool {
		return c.On == forge.OnIssue(first.Number) && !c.UpdatedAt.Before(remark.CreatedAt)
	}) {
		t.Errorf("after a comment at %s, changed are %+v", remark.CreatedAt, changed)
	}
	if changed, err = driver.Changes(t.Context(), time.Now().Add(time.Hour)); err != nil || len(changed) > 0 {
		t.Errorf("in an hour, changed are %+v (%v)", changed, err)
	}
	remarks, err := driver.Remarks(t.Context(), forge.OnIssue(first.Number))
	if err != nil || len(remarks) != 1 || remarks[0].Edited {
		t.Errorf("an acknowledged comment is %+v (%v)", remarks, err)
	}
}

// Gitea tells exactly of a body that was never edited, and of titles; of another body, only that nothing changed on the issue since.
func TestTheServerTellsWhenATextWasEdited(t *testing.T) {
	t.Parallel()
	at := newTarget(t)
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	issue, err := driver.CreateIssue(t.Context(), "First", "one")
	if err != nil {
		t.Fatal(err)
	}
	edits := func(what map[string]any) (last forge.LastEdit, order forge.Remark) {
		t.Helper()
		if order, err = driver.CreateRemark(t.Context(), forge.OnIssue(issue.Number), "/signalbox run"); err != nil {
			t.Fatal(err)
		}
		if what != nil {
			at.call(t, http.MethodPatch, fmt.Sprintf("/issues/%d", issue.Number), what, nil)
		}
		if last, err = driver.LastEdit(t.Context(), issue.Number); err != nil {
			t.Fatal(err)
		}
		return last, order
	}
	if last, _ := edits(nil); !last.Exact || !last.At.IsZero() {
		t.Errorf("after a comment: %+v", last)
	}
	if last, order := edits(map[string]any{"title": "Second"}); !last.Exact || !last.After(order.CreatedAt) {
		t.Errorf("after a title at %s or later: %+v", order.CreatedAt, last)
	}
	if last, order := edits(map[string]any{"body": "two"}); last.Exact || last.At.Before(order.CreatedAt) {
		t.Errorf("after a body at %s or later: %+v", order.CreatedAt, last)
	}
	if last, order := edits(nil); last.Exact || last.At.Before(order.CreatedAt) || last.At.After(order.CreatedAt.Add(time.Second)) {
		t.Errorf("with an order at %s as the last change: %+v", order.CreatedAt, last)
	}
}

func TestWhatBlocksAnIssueIsRead(t *testing.T) {
	t.Parallel()
	at := newTarget(t)
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for range 3 {
		made, err := driver.CreateIssue(t.Context(), "An issue", "")
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, made.Number)
	}
	for _, blocker := range numbers[1:] {
		at.call(t, http.MethodPost, fmt.Sprintf("/issues/%d/dependencies", numbers[0]), map[string]any{"owner": bot, "repo": at.Name, "index": blocker}, nil)
	}
	if err := driver.CloseIssue(t.Context(), numbers[1]); err != nil {
		t.Fatal(err)
	}
	if links, err := driver.Links(t.Context(), numbers[0]); err != nil || !slices.Equal(links.Needs, numbers[2:]) {
		t.Errorf("it needs %v (%v), want %v", links.Needs, err, numbers[2:])
	}
	at.call(t, http.MethodPatch, "", map[string]any{"has_issues": true, "internal_tracker": map[string]any{"enable_issue_dependencies": false}}, nil)
	if links, err := driver.Links(t.Context(), numbers[0]); err != nil || links.Needs != nil {
		t.Errorf("without dependencies, it needs %v (%v)", links.Needs, err)
	}
}
