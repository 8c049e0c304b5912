package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signalbox/internal/environment/detect"
	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Detect is what the project's files at a commit say of its environment.
func (p *Project) Detect(ctx context.Context, commit, language string) (workflow.Detection, error) {
	found, err := detect.Detect(ctx, p.Repo.Content(commit), detect.Catalogue(p.Config.Environment.Images), language)
	if err != nil {
		return workflow.Detection{}, err
	}
	d := p.detection(&found)
	if !p.Config.Environment.Submodules {
		return d, nil
	}
	submodules, err := p.Repo.Submodules(ctx, commit)
	if errors.Is(err, git.ErrInvalid) { // which keeps every environment from being made
		return d, nil
	}
	if err != nil || len(submodules) == 0 {
		return d, err
	}
	all := map[string]string{"": d.Locks}
	for _, s := range submodules { // a set-up may build what lies there
		all[s.Path] = s.Commit
	}
	d.Locks = lockDigest(all)
	return d, nil
}

func (p *Project) detection(found *detect.Result) workflow.Detection {
	d := workflow.Detection{Environment: found.Environment, Reason: found.Reason, Files: []string{}, SetUp: found.SetUp, Source: found.SetUpSource,
		Locks: lockDigest(found.Locks()), Notes: slices.Concat(offers(found), found.Notes)}
	for _, f := range found.Files {
		d.Files = append(d.Files, f.Path)
	}
	d.Verification = verifications(found.Verification)
	for _, other := range found.Defaults {
		if d.Defaults == nil {
			d.Defaults = map[string]workflow.DefaultSetUp{}
		}
		d.Defaults[other.Environment] = workflow.DefaultSetUp{SetUp: other.SetUp, Verification: verifications(other.Verification)}
	}
	if p.Config.Environment.Images[d.Environment] != "" {
		return d
	}
	for _, own := range found.Descriptions { // the project's own: the first that names an image
		if d.Image = own.Image; own.Dockerfile != "" {
			d.Image = "file:" + own.Dockerfile
		}
		if d.Image != "" {
			break
		}
	}
	return d
}

func verifications(found []detect.Verification) (all []workflow.Verification) {
	for _, v := range found {
		all = append(all, workflow.Verification{Command: v.Command, Expected: v.Expected})
	}
	return all
}

// lockDigest is one digest of several files; empty for none.
func lockDigest(locks map[string]string) string {
	if len(locks) == 0 {
		return ""
	}
	all := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(locks)) {
		_, _ = fmt.Fprintf(all, "%s  %s\n", locks[path], path)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// offers are the project's own descriptions of its set-up that were not taken, and the parts that it passes by.
func offers(found *detect.Result) (notes []string) {
	for _, d := range found.Descriptions {
		if len(d.Commands) > 0 && d.Path != found.SetUpSource {
			notes = append(notes, redact.Line(fmt.Sprintf("%s describes a set-up (%s): %s", d.Path, d.Unfit, strings.Join(d.Commands, "; ")), 1000))
		}
	}
	for _, part := range found.NotSetUp {
		notes = append(notes, redact.Line(fmt.Sprintf("%s (%s) is not set up: %s", part.Source, part.Environment, strings.Join(part.Commands, "; ")), 1000))
	}
	return notes
}
