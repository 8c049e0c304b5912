package github

import (
	"context"
	"net/http"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

var _ forge.Reviewable = (*Server)(nil)

// RequestReviewers asks people and teams. GitHub names a team without its organization, which is the repository's owner.
func (s *Server) RequestReviewers(ctx context.Context, number int, people, teams []string) error {
	asked := map[string][]string{}
	if len(people) > 0 {
		asked["reviewers"] = people
	}
	for _, team := range teams {
		asked["team_reviewers"] = append(asked["team_reviewers"], team[strings.LastIndex(team, "/")+1:])
	}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "pulls/%d/requested_reviewers", Args: []any{number}, In: asked})
	return s.wrap(err, "ask for reviews of %d", number)
}
