package env

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/registry"
)

func newEnvResumeAction(a *command.Invocation) *cobra.Command {
	var pr string
	states := []string{string(registry.PRNone), string(registry.PROpen), string(registry.PRMerged), string(registry.PRClosed)}
	c := &cobra.Command{
		Use: "resume-action ENV_ID|ISSUE", Args: cobra.ExactArgs(1), ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if pr != "" && !slices.Contains(states, pr) {
				return command.UsageError("want one of "+strings.Join(states, ", "), "--pr-state is %q", pr)
			}
			e, err := environments.Open(c.Context(), a.Opener, true)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			action, err := e.Recover(c.Context(), args[0], registry.PRState(pr))
			if err != nil {
				return err
			}
			return a.Show(action, func() { printResumeAction(a, &action) })
		},
	}
	c.Flags().StringVar(&pr, "pr-state", "", "none, open, merged or closed: the state of its pull request")
	_ = c.RegisterFlagCompletionFunc("pr-state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func printResumeAction(a *command.Invocation, r *registry.ResumeAction) {
	record := "" // the command that records the status which the action presupposes
	switch {
	case r.Record == registry.EnvironmentMerged:
		record = "signalbox env mark-merged " + commandline.ShellWord(r.EnvID)
	case r.Record == registry.EnvironmentAbandoned:
		record = "signalbox env mark-abandoned " + commandline.ShellWord(r.EnvID)
	case r.Record == registry.EnvironmentPRCreated && r.PRNumber != nil:
		record = fmt.Sprintf("signalbox env update-pr %s %d", commandline.ShellWord(r.EnvID), *r.PRNumber)
	}
	fields := [][2]string{{"action:", r.Action}, {"env_id:", r.EnvID}, {"branch:", r.Branch}, {"pr_number:", number(r.PRNumber)}, {"phase:", number(r.Phase)},
		{"step:", string(r.Step)}, {"ref:", r.Ref}, {"message:", r.Message}, {"suggested_action:", r.SuggestedAction}}
	for _, finding := range r.PendingIssues {
		fields = append(fields, [2]string{"pending_issue:", finding})
	}
	a.PrintFields(17, append(fields, [2]string{"record first:", record})...)
	if r.Warning != "" {
		a.Warn("%s", r.Warning)
	}
}
