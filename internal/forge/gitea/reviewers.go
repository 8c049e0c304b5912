package gitea

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"signalbox/internal/forge"
)

var _ forge.Reviewable = (*Server)(nil)

// RequestReviewers asks people and teams. Gitea names a team without its organization, which is the repository's owner.
func (s *Server) RequestReviewers(ctx context.Context, number int, people, teams []string) error {
	asked := map[string][]string{"reviewers": people}
	for _, team := range teams {
		asked["team_reviewers"] = append(asked["team_reviewers"], team[strings.LastIndex(team, "/")+1:])
	}
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "pulls/%d/requested_reviewers", args: []any{number}, in: asked}); err != nil {
		return fmt.Errorf("ask for reviews of %d: %w", number, err)
	}
	return nil
}
