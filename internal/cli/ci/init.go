package ci

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/ci"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/pipeline"
)

func newInit(a *command.Invocation) *cobra.Command {
	var github, gitlab, gitea, force, dry bool
	c := &cobra.Command{
		Use: "init", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var wanted []pipeline.File
			next := ""
			for _, system := range []struct {
				meant bool
				files []pipeline.File
				next  string
			}{{github, pipeline.RunsOnGitHub(), nextOnGitHub}, {gitlab, pipeline.RunsOnGitLab(), nextOnGitLab}, {gitea, pipeline.RunsOnGitea(), nextOnGitea}} {
				if system.meant {
					wanted, next = append(wanted, system.files...), next+system.next
				}
			}
			if len(wanted) == 0 {
				return command.UsageError(`"signalbox ci init --github", "--gitlab" or "--gitea"`, "for which CI?")
			}
			return display.Install(c.Context(), a, wanted, force, dry, next)
		},
	}
	c.Flags().BoolVar(&github, "github", false, "for GitHub Actions")
	c.Flags().BoolVar(&gitlab, "gitlab", false, "for GitLab CI")
	c.Flags().BoolVar(&gitea, "gitea", false, "for Gitea Actions and Forgejo Actions")
	c.Flags().BoolVar(&force, "force", false, "replace files with other content")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be written")
	return c
}

const (
	nextOnGitHub = `
Next, for GitHub:
  1. in .github/workflows/signalbox.yml: install Signalbox and your agent, and name the secret with its key
  2. set the secrets of the repository:
       ` + ci.KeyVariable + `  seals the runs between two jobs: openssl rand -hex 32
       ANTHROPIC_API_KEY    your agent's key
       SIGNALBOX_TOKEN      a token of yours, if your other checks have to run on what Signalbox pushes
  3. commit the file to the default branch; then set the label "signalbox" on an issue
`
	nextOnGitLab = `
Next, for GitLab:
  1. in .gitlab-ci.yml: include: [{local: .gitlab/signalbox.yml}]
  2. in .gitlab/signalbox.yml: install Signalbox and your agent
  3. set the variables of the project, masked and protected:
       ` + ci.KeyVariable + `  seals the runs between two jobs: openssl rand -hex 32
       ANTHROPIC_API_KEY    your agent's key
       GITLAB_TOKEN         a project access token: role Developer (or Maintainer), scopes api and write_repository
  4. add a pipeline trigger token, and a webhook for comments and issues events to
       https://gitlab.example.com/api/v4/projects/ID/ref/main/trigger/pipeline?token=TOKEN
  5. commit the files to the default branch; then set the label "signalbox" on an issue
`
	nextOnGitea = `
Next, for Gitea or Forgejo:
  1. in .gitea/workflows/signalbox.yml: install Signalbox and your agent, and name the secret with its key
  2. set the secrets of the repository:
       ` + ci.KeyVariable + `  seals the runs between two jobs: openssl rand -hex 32
       ANTHROPIC_API_KEY    your agent's key
       SIGNALBOX_TOKEN      a token with the scopes that docs/forges.md names
  3. commit the file to the default branch; then set the label "signalbox" on an issue
`
)
