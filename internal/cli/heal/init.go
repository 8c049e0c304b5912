package heal

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/git"
	"signalbox/internal/pipeline"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// healInit is what "heal init" was asked for.
type healInit struct {
	github, gitlab bool
	force, dry     bool
}

func newHealInit(a *command.Invocation) *cobra.Command {
	var o healInit
	c := &cobra.Command{
		Use:  "init",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return initHeal(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.github, "github", false, "for GitHub Actions")
	c.Flags().BoolVar(&o.gitlab, "gitlab", false, "for GitLab CI")
	c.Flags().BoolVar(&o.force, "force", false, "replace files that say something else")
	c.Flags().BoolVarP(&o.dry, "dry-run", "n", false, "only say what would be written")
	return c
}

func initHeal(ctx context.Context, a *command.Invocation, o healInit) error {
	wanted := o.files()
	if len(wanted) == 0 {
		return &problem.Error{Err: errors.New("for which CI?"), Hint: `"signalbox heal init --github" or "signalbox heal init --gitlab"`, Code: problem.Usage}
	}
	repo, err := git.Open(ctx, a.Opener.Host(), a.Opener.Dir)
	if err != nil {
		return wire.Explained(err)
	}
	files, err := pipeline.Install(repo.Root(), wanted, o.force, o.dry)
	var differ *pipeline.DifferentError
	if errors.As(err, &differ) {
		return &problem.Error{Err: err, Hint: `keep yours, or replace them: --force (yours is then beside it, as NAME.orig)`}
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(files)
	}
	printWritten(a, files, o)
	return nil
}

func (o healInit) files() (wanted []pipeline.File) {
	if o.github {
		wanted = append(wanted, pipeline.GitHub()...)
	}
	if o.gitlab {
		wanted = append(wanted, pipeline.GitLab()...)
	}
	return wanted
}

func printWritten(a *command.Invocation, files []pipeline.Installed, o healInit) {
	words := map[string]string{pipeline.Missing: "written", pipeline.Same: "is there already", pipeline.Different: "replaced; what was there is beside it, as .orig"}
	if o.dry {
		words = map[string]string{pipeline.Missing: "would be written", pipeline.Same: "is there already", pipeline.Different: "differs; --force would replace it"}
	}
	for _, file := range files {
		a.Print("%-50s %s\n", file.Path, words[file.Found])
	}
	if o.github && !o.dry {
		a.Print("%s", nextOnGitHub)
	}
	if o.gitlab && !o.dry {
		a.Print("%s", nextOnGitLab)
	}
}

const (
	nextOnGitHub = `
Next, for GitHub:
  1. set SIGNALBOX in .github/workflows/signalbox-heal.yml: where CI gets Signalbox from
  2. there, install your agent and name the secret with its key
  3. commit the files; the schedule begins on the default branch
`
	nextOnGitLab = `
Next, for GitLab:
  1. in .gitlab-ci.yml: include: [{local: .gitlab/signalbox-heal.yml}]
  2. set SIGNALBOX in .gitlab/signalbox-heal.yml: where CI gets Signalbox from
  3. give CI the variable SIGNALBOX_GITLAB_TOKEN (read_api, write_repository), masked and protected;
     and SIGNALBOX_GITLAB_ISSUES_TOKEN (role Reporter, api), if an issue shall call you when repairs fail
  4. commit the files, and add a pipeline schedule with the variable SIGNALBOX_HEAL = true
`
)
