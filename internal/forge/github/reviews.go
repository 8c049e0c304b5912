package github

import (
	"context"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

// Reviews returns what each person says at last. A comment after an approval doesn't take it back; a dismissal does.
func (s *Server) Reviews(ctx context.Context, number int) ([]forge.Review, error) {
	var authors []string
	latest := map[string]forge.Review{}
	err := pages(func(page github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return s.rest.PullRequests.ListReviews(ctx, s.owner, s.name, number, &page)
	}, func(r *github.PullRequestReview) bool { // oldest first
		said, ok := review(r)
		if !ok {
			return true
		}
		before, known := latest[said.Author]
		if !known {
			authors = append(authors, said.Author)
		}
		if r.GetState() != "COMMENTED" || before.State == "" || before.State == forge.Commented {
			latest[said.Author] = said
		}
		return true
	})
	var found []forge.Review
	for _, author := range authors {
		found = append(found, latest[author])
	}
	return found, s.wrap(err, "read the reviews of %d", number)
}
