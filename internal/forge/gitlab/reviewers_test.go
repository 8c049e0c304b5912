package gitlab_test

import (
	"errors"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab/gitlabtest"
)

func TestReviewersAreAddedToThoseWhoAreThere(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	for _, people := range [][]string{{"mallory"}, {"Grace"}, {"grace", "mallory"}} {
		ok(t, driver.RequestReviewers(t.Context(), p.Number, people, nil))
	}
	s.With(func(st *gitlabtest.State) {
		if len(st.Merges[p.Number].Asked) != 2 {
			t.Errorf("the reviewers are %v", st.Merges[p.Number].Asked)
		}
	})
	for _, c := range []struct{ people, teams []string }{{people: []string{"stranger"}}, {teams: []string{"octo/team"}}} {
		var f *forge.Failure
		if err := driver.RequestReviewers(t.Context(), p.Number, c.people, c.teams); !errors.As(err, &f) || f.Kind != forge.Refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
