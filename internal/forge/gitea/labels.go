package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"signalbox/internal/forge"
)

type label struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// labelColor is the color of labels that we make: a grey that says nothing.
const labelColor = "#8c959f"

// maxRepositoryLabels is how many labels of a repository are looked through.
const maxRepositoryLabels = 1000

// Label gives an issue or a pull request the labels in add, which are made if the repository lacks them, and takes those in remove.
func (s *Server) Label(ctx context.Context, on forge.Subject, add, remove []string) error {
	var has []label
	if _, err := s.call(ctx, request{method: http.MethodGet, path: "issues/%d/labels", args: []any{on.Number}, out: &has}); err != nil {
		return fmt.Errorf("read the labels of %s: %w", on, err)
	}
	for _, name := range remove {
		if i := labelled(has, name); i >= 0 {
			if _, err := s.call(ctx, request{method: http.MethodDelete, path: "issues/%d/labels/%d", args: []any{on.Number, has[i].ID}}); err != nil {
				return fmt.Errorf("take label %q from %s: %w", name, on, err)
			}
		}
	}
	add = slices.DeleteFunc(slices.Clone(add), func(name string) bool { return labelled(has, name) >= 0 })
	if len(add) == 0 {
		return nil
	}
	ids, err := s.labelIDs(ctx, add)
	if err == nil {
		_, err = s.call(ctx, request{method: http.MethodPost, path: "issues/%d/labels", args: []any{on.Number}, in: map[string]any{"labels": ids}})
	}
	if err != nil {
		return fmt.Errorf("label %s: %w", on, err)
	}
	return nil
}

func labelled(labels []label, name string) int {
	return slices.IndexFunc(labels, func(l label) bool { return strings.EqualFold(l.Name, name) })
}

// labelIDs returns the ids of labels, and makes those that the repository lacks.
func (s *Server) labelIDs(ctx context.Context, names []string) (ids []int64, err error) {
	all, err := pages[label](ctx, s, request{method: http.MethodGet, path: "labels"}, maxRepositoryLabels)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if i := labelled(all, name); i >= 0 {
			ids = append(ids, all[i].ID)
			continue
		}
		var made label
		if _, err := s.call(ctx, request{method: http.MethodPost, path: "labels", in: map[string]any{"name": name, "color": labelColor}, out: &made}); err != nil {
			return nil, fmt.Errorf("make label %q: %w", name, err)
		}
		ids = append(ids, made.ID)
	}
	return ids, nil
}
