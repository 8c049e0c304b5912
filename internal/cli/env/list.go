package env

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

var environmentStatuses = []string{string(registry.EnvironmentActive), string(registry.EnvironmentBlocked), string(registry.EnvironmentPRCreated),
	string(registry.EnvironmentMerged), string(registry.EnvironmentAbandoned)}

func newEnvList(a *command.Invocation) *cobra.Command {
	var only string
	c := &cobra.Command{
		Use: "list",
		RunE: func(c *cobra.Command, _ []string) error {
			if only != "" && !slices.Contains(environmentStatuses, only) {
				return &problem.Error{Err: fmt.Errorf("status is %q", only), Hint: "want one of " + strings.Join(environmentStatuses, ", "), Code: problem.Usage}
			}
			doc, err := environments.Read(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			doc.Environments = slices.DeleteFunc(doc.Environments, func(e registry.Environment) bool {
				return only != "" && string(e.Status) != only
			})
			if a.JSON {
				return a.PrintJSON(doc)
			}
			if len(doc.Environments) == 0 {
				a.Say("no environment is " + cmp.Or(only, "registered"))
				return nil
			}
			return printEnvironments(a, doc.Environments)
		},
	}
	c.Flags().StringVar(&only, "status", "", "only those that are active, blocked, pr_created, merged or abandoned")
	return c
}

func printEnvironments(a *command.Invocation, all []registry.Environment) error {
	out, flush := a.Columns("ENV_ID", "ISSUE", "STATUS", "PHASE", "PR", "BRANCH", "TITLE")
	for _, e := range all {
		pr := "-"
		if e.PRNumber != nil {
			pr = strconv.Itoa(*e.PRNumber)
		}
		_, _ = fmt.Fprintln(out, strings.Join([]string{redact.Line(e.EnvID, 200), strconv.Itoa(e.IssueNumber), redact.Line(string(e.Status), 40),
			fmt.Sprintf("%d %s", e.Phase, redact.Line(string(e.Step), 40)), pr, redact.Line(cmp.Or(e.Branch, "-"), 200), redact.Line(e.Title, 200)}, "\t"))
	}
	return flush()
}
