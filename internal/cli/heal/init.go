package heal

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/git"
	"signalbox/internal/pipeline"
	"signalbox/internal/probe"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newHealInit(a *command.Invocation) *cobra.Command {
	var github, gitlab, force, dry bool
	c := &cobra.Command{
		Use: "init", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var wanted []pipeline.File
			if github {
				wanted = append(wanted, pipeline.GitHub()...)
			}
			if gitlab {
				wanted = append(wanted, pipeline.GitLab()...)
			}
			if len(wanted) == 0 {
				return command.UsageError(`"signalbox heal init --github" or "signalbox heal init --gitlab"`, "for which CI?")
			}
			repo, err := git.Open(c.Context(), a.Opener.Host(), a.Opener.Dir)
			if err != nil {
				return wire.Explained(err)
			}
			files, err := pipeline.Install(repo.Root(), wanted, force, dry)
			var differ *pipeline.DifferentError
			if errors.As(err, &differ) {
				return &problem.Error{Err: err, Hint: `keep yours, or replace them: --force (yours is then beside it, as NAME.orig)`}
			}
			if err != nil {
				return err
			}
			return a.Show(files, func() {
				printWritten(a, files, dry)
				if github && !dry {
					a.Print("%s", nextOnGitHub)
				}
				if gitlab && !dry {
					a.Print("%s", nextOnGitLab)
				}
			})
		},
	}
	c.Flags().BoolVar(&github, "github", false, "for GitHub Actions")
	c.Flags().BoolVar(&gitlab, "gitlab", false, "for GitLab CI")
	c.Flags().BoolVar(&force, "force", false, "replace files with other content")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be written")
	return c
}

func printWritten(a *command.Invocation, files []pipeline.Installed, dry bool) {
	words := map[string]string{pipeline.Missing: "written", pipeline.Same: "is there already", pipeline.Different: "replaced; what was there is beside it, as .orig"}
	if dry {
		words = map[string]string{pipeline.Missing: "would be written", pipeline.Same: "is there already", pipeline.Different: "differs; --force would replace it"}
	}
	for _, file := range files {
		a.Print("%-50s %s\n", file.Path, words[file.Found])
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

// newProbe returns the hidden command with which a health check starts a service and sends it a request.
func newProbe(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: wire.ProbeName + " CHECK", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var check workflow.HealthCheck
			if err := json.Unmarshal([]byte(args[0]), &check); err != nil || check.HTTP == nil {
				return command.UsageError("", "%w", errors.Join(errors.New("want a health check with http, as JSON"), err))
			}
			ctx, cancel := context.WithTimeout(c.Context(), time.Duration(check.TimeLimitMS)*time.Millisecond)
			defer cancel()
			err := probe.StartAndAsk(ctx, *check.HTTP, process.Host{}, os.Environ())
			var answer *probe.Answer
			if errors.As(err, &answer) {
				a.Print("%s\n", answer.Problem)
				return &problem.Error{Code: problem.General}
			}
			return err
		},
	}
}
