package heal

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
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
			next := ""
			if github {
				wanted, next = append(wanted, pipeline.GitHub()...), nextOnGitHub
			}
			if gitlab {
				wanted, next = append(wanted, pipeline.GitLab()...), next+nextOnGitLab
			}
			if len(wanted) == 0 {
				return command.UsageError(`"signalbox heal init --github" or "signalbox heal init --gitlab"`, "for which CI?")
			}
			return display.Install(c.Context(), a, wanted, force, dry, next)
		},
	}
	c.Flags().BoolVar(&github, "github", false, "for GitHub Actions")
	c.Flags().BoolVar(&gitlab, "gitlab", false, "for GitLab CI")
	c.Flags().BoolVar(&force, "force", false, "replace files with other content")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be written")
	return c
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
