package github_test

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
)

func TestWhatChangedIsListedByWhenAndIsFreeWhileNothingDoes(t *testing.T) {
	t.Parallel()
	s, driver, use := startCounted(t)
	first, second := s.Issue("First", ""), s.Issue("Second", "", "signalbox")
	pull := propose(t, s, driver, "topic").Number
	s.Comment(first, "grace", "hello")
	all := must(driver.Changes(t.Context(), time.Time{}))(t)
	if on := subjects(all); !slices.Equal(on, []forge.Subject{forge.OnIssue(second), forge.OnPull(pull), forge.OnIssue(first)}) {
		t.Fatalf("changed are %+v", all)
	}
	if !slices.Equal(all[0].Labels, []string{"signalbox"}) || all[2].Closed {
		t.Errorf("changed are %+v", all)
	}
	since := all[2].UpdatedAt
	for range 3 {
		if on := subjects(must(driver.Changes(t.Context(), since))(t)); !slices.Equal(on, []forge.Subject{forge.OnIssue(first)}) {
			t.Errorf("changed are %+v", on)
		}
	}
	if free := use().Day.Unchanged; free != 2 {
		t.Errorf("%d calls were free, want 2", free)
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
	s.Label(number, "mallory", "bug")
	s.Label(number, "ada", "signalbox")
	s.Label(number, "helper[bot]", "signalbox")
	s.With(func(st *githubtest.State) {
		l := &st.Issues[number].Labelings
		*l = append(*l, githubtest.Labeling{ID: 9, Label: "signalbox", By: "grace", Via: "helper", At: st.Now})
	})
	got := must(driver.Labelings(t.Context(), number))(t)
	if len(got) != 4 || got[0].Label != "bug" || got[1].By != "ada" || got[1].ByBot || !got[2].ByBot || !got[3].ByBot || got[1].ID == 0 || got[1].At.IsZero() {
		t.Errorf("the labels were set so: %+v", got)
	}
	_, err := driver.Labelings(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

func TestWhenATextWasEditedIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("First", "", "bug")
	edited := func() forge.LastEdit {
		t.Helper()
		s.Comment(number, "mallory", "this is no edit")
		return must(driver.LastEdit(t.Context(), number))(t)
	}
	if last := edited(); !last.Exact || !last.At.IsZero() {
		t.Errorf("a new issue was edited: %+v", last)
	}
	for _, title := range []string{"", "Second"} {
		s.Edit(number, title, "other")
		var now time.Time
		s.With(func(st *githubtest.State) { now = st.Now })
		if last := edited(); !last.Exact || !last.At.Equal(now) {
			t.Errorf("it was edited: %+v, want at %s", last, now)
		}
	}
	s.With(func(st *githubtest.State) { st.Issues[number].Renamed = append(st.Issues[number].Renamed, st.Now) })
	var now time.Time
	s.With(func(st *githubtest.State) { now = st.Now })
	if last := edited(); !last.At.Equal(now) {
		t.Errorf("after its title, it was edited: %+v, want at %s", last, now)
	}
	_, err := driver.LastEdit(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}
