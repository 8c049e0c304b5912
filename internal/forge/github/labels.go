package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Label reads the labels first, which is free while nothing changed: writing is what GitHub limits hardest.
func (s *Server) Label(ctx context.Context, on forge.Subject, add, remove []string) error {
	found, _, err := rest.Get[issueAnswer](ctx, s.transport, nil, "issues/%d", on.Number) // of a pull request too
	if err != nil {
		return s.wrap(err, "read the labels of %s", on)
	}
	missing := slices.DeleteFunc(slices.Clone(add), func(name string) bool { return labeled(found, name) })
	if len(missing) > 0 {
		add := rest.Call{Method: http.MethodPost, Path: "issues/%d/labels", Args: []any{on.Number}, In: map[string][]string{"labels": missing}}
		if _, err := s.transport.Do(ctx, add); err != nil {
			return s.wrap(err, "label %s", on)
		}
	}
	for _, name := range remove {
		if !labeled(found, name) {
			continue
		}
		_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodDelete, Path: "issues/%d/labels/%s", Args: []any{on.Number, name}})
		if err = s.wrap(err, "remove label %s from %s", name, on); err != nil && !errors.Is(err, forge.ErrNotFound) {
			return err
		}
	}
	return nil
}

// labeled compares as GitHub does: case doesn't matter.
func labeled(i issueAnswer, name string) bool {
	return slices.ContainsFunc(i.Labels, func(l struct{ Name string }) bool { return strings.EqualFold(l.Name, name) })
}
