package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

var _ forge.Reviewable = (*Server)(nil)

// RequestReviewers adds people to the reviewers of a merge request, who are set all at once. GitLab's free plan keeps only one. There are no teams.
func (s *Server) RequestReviewers(ctx context.Context, number int, people, teams []string) error {
	err := s.requestReviewers(ctx, number, people)
	if err == nil && len(teams) > 0 {
		err = &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("groups can't be asked for reviews: %s", strings.Join(teams, ", "))}
	}
	return s.wrap(err, "ask for reviews of %d", number)
}

func (s *Server) requestReviewers(ctx context.Context, number int, people []string) error {
	m, err := s.mergeRequest(ctx, number)
	if err != nil || len(people) == 0 {
		return err
	}
	ids := []int64{}
	for _, r := range m.Reviewers {
		ids = append(ids, r.ID)
	}
	before := len(ids)
	for _, name := range people {
		var found []user
		if _, err := s.transport.Do(ctx, rest.Call{Method: http.MethodGet, Root: "users", Query: url.Values{"username": {name}}, Out: &found}); err != nil {
			return err
		}
		if len(found) == 0 {
			return &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("there is no account %q", name)}
		}
		if !slices.Contains(ids, found[0].ID) {
			ids = append(ids, found[0].ID)
		}
	}
	if len(ids) == before {
		return nil
	}
	_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "merge_requests/%d", Args: []any{number}, In: map[string]any{"reviewer_ids": ids}})
	return err
}
