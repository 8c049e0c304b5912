package gitlab_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/gitlab/gitlabtest"
)

func TestWhatChangedIsListedByWhen(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	driver, calls := openCounted(t, s, "glpat-ada", gitlab.PrivateToken)
	first, second := s.Issue("First", ""), s.Issue("Second", "", "signalbox")
	pull := propose(t, s, driver, "topic").Number
	s.Note(first, "grace", "hello")
	all := must(driver.Changes(t.Context(), time.Time{}))(t)
	if on := subjects(all); !slices.Equal(on, []forge.Subject{forge.OnIssue(second), forge.OnPull(pull), forge.OnIssue(first)}) {
		t.Fatalf("changed are %+v", all)
	}
	if !slices.Equal(all[0].Labels, []string{"signalbox"}) || all[1].Closed || all[2].Closed {
		t.Errorf("changed are %+v", all)
	}
	since := all[2].UpdatedAt
	for range 3 {
		if on := subjects(must(driver.Changes(t.Context(), since))(t)); !slices.Equal(on, []forge.Subject{forge.OnIssue(first)}) {
			t.Errorf("changed are %+v", on)
		}
	}
	if day := calls.Use()[0].Day; day.Unchanged != 4 || day.Paid != day.Sent {
		t.Errorf("%+v were counted, want 4 unchanged, and GitLab counts those too", day)
	}
	ok(t, driver.CloseProposal(t.Context(), pull))
	if all := must(driver.Changes(t.Context(), since.Add(time.Millisecond)))(t); len(all) != 1 || all[0].On != forge.OnPull(pull) || !all[0].Closed {
		t.Errorf("changed are %+v", all)
	}
}

// A list that is cut says nothing of what changed later, so what the other list has of that waits for the next look.
func TestWhatChangedEndsWhereOneListIsCut(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	for i := range 501 {
		s.Issue(fmt.Sprint(i), "")
	}
	pull := propose(t, s, driver, "topic").Number
	all := must(driver.Changes(t.Context(), time.Time{}))(t)
	if len(all) != 500 || all[499].On != forge.OnIssue(500) {
		t.Errorf("%d changed, the last is %+v", len(all), all[len(all)-1])
	}
	if on := subjects(must(driver.Changes(t.Context(), all[499].UpdatedAt))(t)); !slices.Equal(on, []forge.Subject{forge.OnIssue(500), forge.OnIssue(501), forge.OnPull(pull)}) {
		t.Errorf("then changed are %+v", on)
	}
}

func subjects(changes []forge.Change) (on []forge.Subject) {
	for _, c := range changes {
		on = append(on, c.On)
	}
	return on
}

func TestWhoSetALabelIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("First", "")
	s.Label(number, "mallory", "add", "bug")
	s.Label(number, "ada", "add", "signalbox")
	s.Label(number, "ada", "remove", "signalbox")
	s.Label(number, gitlabtest.Robot, "add", "signalbox")
	got := must(driver.Labelings(t.Context(), number))(t)
	if len(got) != 3 || got[0].Label != "bug" || got[1].By != "ada" || got[1].ByBot || !got[2].ByBot || got[1].ID == 0 || got[1].At.IsZero() {
		t.Errorf("the labels were set so: %+v", got)
	}
	_, err := driver.Labelings(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

// GitLab notes what was edited, and in place of that which task was checked, whatever else the edit changed.
func TestWhenATextWasEditedIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	s.Add(gitlabtest.Note{Number: number, Author: "grace", Body: "mentioned in merge request !1", System: true})
	s.Note(number, "mallory", "changed the description")
	if last := must(driver.LastEdit(t.Context(), number))(t); !last.Exact || !last.At.IsZero() {
		t.Errorf("a new issue was edited: %+v", last)
	}
	for _, note := range []string{"changed the description", "changed title from **{-Count-}** to **{+Sing+}**", "marked the checklist item **a** as completed", "marked the task **a** as completed"} {
		s.Edit(number, "Sing", "other", note)
		var now time.Time
		s.With(func(st *gitlabtest.State) { now = st.Now })
		s.Note(number, "mallory", "more")
		if last := must(driver.LastEdit(t.Context(), number))(t); !last.Exact || !last.At.Equal(now) {
			t.Errorf("after %q it was edited: %+v, want at %s", note, last, now)
		}
	}
	_, err := driver.LastEdit(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}
