package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

// Label reads the labels first, which is free while nothing changed: writing is what GitHub limits hardest.
func (s *Server) Label(ctx context.Context, number int, add, remove []string) error {
	found, _, err := s.rest.Issues.Get(ctx, s.owner, s.name, number) // of a pull request too
	if err != nil {
		return s.wrap(err, "read the labels of %d", number)
	}
	missing := slices.DeleteFunc(slices.Clone(add), func(name string) bool { return labeled(found, name) })
	if len(missing) > 0 {
		if err := s.addLabels(ctx, number, missing); err != nil {
			return s.wrap(err, "label %d", number)
		}
	}
	for _, name := range remove {
		if !labeled(found, name) {
			continue
		}
		_, err := s.rest.Issues.RemoveLabelForIssue(ctx, s.owner, s.name, number, url.PathEscape(name))
		if err = s.wrap(err, "remove label %s from %d", name, number); err != nil && !errors.Is(err, forge.ErrNotFound) {
			return err
		}
	}
	return nil
}

// addLabels sends the object that GitHub describes; the library sends a list, which it no longer does.
func (s *Server) addLabels(ctx context.Context, number int, names []string) error {
	path := fmt.Sprintf("repos/%s/%s/issues/%d/labels", s.owner, s.name, number)
	req, err := s.rest.NewRequest(ctx, http.MethodPost, path, map[string][]string{"labels": names})
	if err != nil {
		return err
	}
	_, err = s.rest.Do(req, nil)
	return err
}

// labeled compares as GitHub does: case doesn't matter.
func labeled(i *github.Issue, name string) bool {
	return slices.ContainsFunc(i.Labels, func(l *github.Label) bool { return strings.EqualFold(l.GetName(), name) })
}
