package env

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

func newEnvResumeAction(a *command.Invocation) *cobra.Command {
	var pr string
	states := []string{string(registry.PRNone), string(registry.PROpen), string(registry.PRMerged), string(registry.PRClosed)}
	c := &cobra.Command{
		Use:               "resume-action ENV_ID|ISSUE",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			if pr != "" && !slices.Contains(states, pr) {
				return &problem.Error{Err: fmt.Errorf("--pr-state is %q", pr), Hint: "want one of " + strings.Join(states, ", "), Code: problem.Usage}
			}
			return resumeAction(c.Context(), a, args[0], registry.PRState(pr))
		},
	}
	c.Flags().StringVar(&pr, "pr-state", "", "none, open, merged or closed: what became of its pull request")
	_ = c.RegisterFlagCompletionFunc("pr-state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func resumeAction(ctx context.Context, a *command.Invocation, name string, pr registry.PRState) (err error) {
	e, err := environments.Open(ctx, a.Opener, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	action, err := e.Recover(ctx, name, pr)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(action)
	}
	printResumeAction(a, &action)
	return nil
}

func printResumeAction(a *command.Invocation, r *registry.ResumeAction) {
	field := func(name, value string) {
		if value != "" {
			a.Print("%-17s %s\n", name+":", redact.Line(value, 400))
		}
	}
	field("action", r.Action)
	field("env_id", r.EnvID)
	field("branch", r.Branch)
	if r.PRNumber != nil {
		field("pr_number", fmt.Sprint(*r.PRNumber))
	}
	if r.Phase != nil {
		field("phase", fmt.Sprint(int(*r.Phase)))
	}
	field("step", string(r.Step))
	field("ref", r.Ref)
	field("message", r.Message)
	field("suggested_action", r.SuggestedAction)
	for _, finding := range r.PendingIssues {
		field("pending_issue", finding)
	}
	field("record first", recordCommand(r))
	if r.Warning != "" {
		a.Warn("%s", r.Warning)
	}
}

// recordCommand records what the action presupposes.
func recordCommand(r *registry.ResumeAction) string {
	switch {
	case r.Record == registry.EnvironmentMerged:
		return "signalbox env mark-merged " + commandline.ShellWord(r.EnvID)
	case r.Record == registry.EnvironmentAbandoned:
		return "signalbox env mark-abandoned " + commandline.ShellWord(r.EnvID)
	case r.Record == registry.EnvironmentPRCreated && r.PRNumber != nil:
		return fmt.Sprintf("signalbox env update-pr %s %d", commandline.ShellWord(r.EnvID), *r.PRNumber)
	}
	return ""
}
