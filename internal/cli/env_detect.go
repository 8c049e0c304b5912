package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/git"
	"signalbox/internal/redact"
)

func newEnvDetect(a *app) *cobra.Command {
	var language string
	c := &cobra.Command{
		Use:   "detect",
		Short: "Show the setup a run would begin with, and which files say so",
		Long: "Look at the files of the project as they are now, tracked or not but never ignored, and print what tells of an\n" +
			"environment, which one is chosen and why, and the set-up that a run would begin with: the configuration's\n" +
			"(environment.set_up), else what the project describes itself, else what its lock files and manifests need. Parts of\n" +
			"the project that it passes by are named. Nothing is run. A run does the same with the commit that it starts from.\n\n" +
			"With --json set_up is the set-up of a run; everything else is what was detected.",
		Example: "  signalbox env detect\n  signalbox env detect --language typescript\n  signalbox env detect --json | jq -r '.set_up.setup_commands[]'",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.detectEnvironment(c.Context(), language)
		},
	}
	c.Flags().StringVar(&language, "language", "", "the language of the task, which decides where several environments fit")
	_ = c.RegisterFlagCompletionFunc("language", cobra.FixedCompletions([]string{"python", "typescript", "javascript", "java", "kotlin", "go"},
		cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) detectEnvironment(ctx context.Context, language string) error {
	repo, err := git.Open(ctx, a.gitHost(), a.Dir)
	if err != nil {
		return explained(err)
	}
	p := &project{app: a, root: repo.Root(), repo: repo}
	if p.config, _, err = config.Load(filepath.Join(p.root, config.Name), a.Env); err != nil {
		return &problem{err: err, hint: "mend the file; \"signalbox init --print\" shows a commented one"}
	}
	found, err := p.detectHere(ctx, language)
	if err != nil {
		return explained(err)
	}
	setUp, err := p.setUpOf(&found)
	if err != nil {
		return err
	}
	hide := a.lateRedactor(p.root)
	if a.json {
		for i := range found.Files {
			found.Files[i].Content = hide(found.Files[i].Content)
		}
		return a.printDetectionJSON(found, setUp)
	}
	return a.printDetection(&found, &setUp, func(text string) string { return redact.Line(hide(text), 300) })
}

// detectHere is what the files of the work tree say. Where a run would see others, a note tells.
func (p *project) detectHere(ctx context.Context, language string) (detect.Result, error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return detect.Result{}, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	catalogue := detect.Catalogue(p.config.Environment.Images)
	found, err := detect.Detect(ctx, detect.Folder{Root: root, Names: p.repo.WorkFiles}, catalogue, language)
	if err != nil {
		return found, err
	}
	err = p.noteUncommitted(ctx, &found, catalogue)
	return found, err
}

// noteUncommitted names what tells of the environment here and is not so in the commit from
// which a run begins.
func (p *project) noteUncommitted(ctx context.Context, found *detect.Result, catalogue []detect.Environment) error {
	ref, begins := "HEAD", "a run begins with the last commit"
	if p.config.Base != "" {
		ref, begins = "refs/heads/"+p.config.Base, begins+" of "+p.config.Base
	}
	head, err := p.repo.Resolve(ctx, ref)
	if errors.Is(err, git.ErrNotFound) {
		found.Notes = append(found.Notes, "nothing is committed yet: "+begins)
		return nil
	}
	if err != nil {
		return err
	}
	committed, err := detect.Detect(ctx, p.repo.Content(head), catalogue, "")
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
