package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"signalbox/internal/environment/detect"
	"signalbox/internal/git"
)

// DetectHere is what the files of the work tree say. Where a run would see others, a note tells.
func (p *Project) DetectHere(ctx context.Context, language string) (detect.Result, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return detect.Result{}, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	catalogue := detect.Catalogue(p.Config.Environment.Images)
	found, err := detect.Detect(ctx, detect.Folder{Root: root, Names: p.Repo.WorkFiles}, catalogue, language)
	if err != nil {
		return found, err
	}
	err = p.noteUncommitted(ctx, &found, catalogue)
	return found, err
}

// noteUncommitted names what tells of the environment here and is not so in the commit from
// which a run begins.
func (p *Project) noteUncommitted(ctx context.Context, found *detect.Result, catalogue []detect.Environment) error {
	ref, begins := "HEAD", "a run begins with the last commit"
	if p.Config.Base != "" {
		ref, begins = "refs/heads/"+p.Config.Base, begins+" of "+p.Config.Base
	}
	head, err := p.Repo.Resolve(ctx, ref)
	if errors.Is(err, git.ErrNotFound) {
		found.Notes = append(found.Notes, "nothing is committed yet: "+begins)
		return nil
	}
	if err != nil {
		return err
	}
	committed, err := detect.Detect(ctx, p.Repo.Content(head), catalogue, "")
	if err != nil {
		return err
	}
	var changed []string
	for _, f := range found.Files {
		if !slices.ContainsFunc(committed.Files, func(c detect.File) bool { return c.Path == f.Path && c.SHA256 == f.SHA256 }) {
			changed = append(changed, f.Path)
		}
	}
	if len(changed) > 0 {
		found.Notes = append(found.Notes, begins+", which has not what is here of "+strings.Join(changed, ", "))
	}
	return nil
}
