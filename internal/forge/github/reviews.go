package github

import (
	"context"
	"net/http"
	"net/url"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Reviews returns what each person says at last. A comment after an approval doesn't take it back; a dismissal does.
func (s *Server) Reviews(ctx context.Context, number int) ([]forge.Review, error) {
	var authors []string
	latest := map[string]forge.Review{}
	err := rest.Pages(func(page url.Values) ([]reviewAnswer, *http.Response, error) {
		return rest.Get[[]reviewAnswer](ctx, s.transport, page, "pulls/%d/reviews", number)
	}, func(r reviewAnswer) bool { // oldest first
		said, ok := review(r)
		if !ok {
			return true
		}
		before, known := latest[said.Author]
		if !known {
			authors = append(authors, said.Author)
		}
		if r.State != "COMMENTED" || before.State == "" || before.State == forge.Commented {
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
