package hosted

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/owners"
	"signalbox/internal/redact"
)

// askReviewers asks those of the configuration, once: someone who left the list, or has reviewed, isn't asked again. Owners are not asked here:
// the forges do that themselves.
func (f *Forge) askReviewers(ctx context.Context, number int) error {
	server, can := f.Server.(forge.Reviewable)
	if !can || len(f.Reviewers) == 0 {
		return nil
	}
	on := forge.OnPull(number)
	all, err := f.announced(ctx, on)
	if err != nil {
		return err
	}
	me, err := f.account(ctx)
	if err != nil {
		return err
	}
	for _, name := range f.Reviewers {
		if slices.Contains(all.Asked, name) || strings.EqualFold(name, me.Name) {
			continue
		}
		people, teams := []string{name}, []string(nil)
		if strings.Contains(name, "/") {
			people, teams = teams, people
		}
		// One by one: a name that the forge refuses keeps no other from being asked.
		if err := f.unlessRefused(ctx, "ask "+name+" for a review", server.RequestReviewers(ctx, number, people, teams)); err != nil {
			return fmt.Errorf("ask %s for a review of pull request %d: %w", name, number, err)
		}
		err := f.record(on).Update(ctx, func(all *remarks) error {
			all.Asked = append(all.Asked, name)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ownersOf says whom the base branch's CODEOWNERS names for the changed files; empty if there is no such file, or no one. The names are code, which
// mentions no one.
func (f *Forge) ownersOf(ctx context.Context, pr forge.PullRequest) string {
	names := f.owners(ctx, pr)
	if len(names) == 0 {
		return ""
	}
	return "Owners of the changed files (CODEOWNERS): `" + strings.Join(names, "`, `") + "`.\n\n"
}

func (f *Forge) owners(ctx context.Context, pr forge.PullRequest) []string {
	kind := owners.Kind(f.Server.Kind())
	paths, file, err := f.Git.Touched(ctx, pr.Base, pr.Head, owners.Places(kind))
	if err != nil {
		f.Logger.WarnContext(ctx, "read CODEOWNERS", "err", err)
	}
	if file == "" {
		return nil
	}
	names := owners.Parse(kind, file).Of(paths)
	for i, name := range names {
		names[i] = redact.Line(name, maxTitle)
	}
	return names
}
