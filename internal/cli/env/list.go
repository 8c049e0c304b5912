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
	"signalbox/internal/commandline"
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
				return command.UsageError("want one of "+strings.Join(environmentStatuses, ", "), "status is %q", only)
			}
			doc, err := environments.Read(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			doc.Environments = slices.DeleteFunc(doc.Environments, func(e registry.Environment) bool {
				return only != "" && string(e.Status) != only
			})
			if len(doc.Environments) == 0 && !a.JSON {
				a.Say("no environment is " + cmp.Or(only, "registered"))
				return nil
			}
			return a.Show(doc, func() { printEnvironments(a, doc.Environments) })
		},
	}
	c.Flags().StringVar(&only, "status", "", "only those that are active, blocked, pr_created, merged or abandoned")
	return c
}

func printEnvironments(a *command.Invocation, all []registry.Environment) {
	var rows [][]string
	for _, e := range all {
		rows = append(rows, []string{e.EnvID, strconv.Itoa(e.IssueNumber), string(e.Status), fmt.Sprintf("%d %s", e.Phase, e.Step),
			cmp.Or(number(e.PRNumber), "-"), cmp.Or(e.Branch, "-"), e.Title})
	}
	a.PrintTable("ENV_ID\tISSUE\tSTATUS\tPHASE\tPR\tBRANCH\tTITLE", rows)
}

// newEnvFinds returns find-by-issue and find-by-pr.
func newEnvFinds(a *command.Invocation) (all []*cobra.Command) {
	for _, x := range []struct {
		use, what string
		by        func(*registry.Environments, int) []registry.Environment
	}{
		{"find-by-issue ISSUE", "an issue", (*registry.Environments).ByIssue},
		{"find-by-pr PR", "a pull request", (*registry.Environments).ByPR},
	} {
		all = append(all, &cobra.Command{
			Use: x.use, Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, args []string) error {
				n, err := parseNumber(x.what, args[0])
				if err != nil {
					return err
				}
				doc, err := environments.Read(c.Context(), a.Opener)
				if err != nil {
					return err
				}
				found := x.by(&doc, n)
				if len(found) == 0 {
					return &problem.Error{Err: fmt.Errorf("no environment is registered for %s with number %d", x.what, n), Code: problem.NotFound,
						Hint: "see what there is: signalbox env list"}
				}
				return a.Show(found, func() { printEnvironments(a, found) })
			},
		})
	}
	return all
}

func newEnvShow(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show ENV_ID", Args: cobra.ExactArgs(1), ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			doc, err := environments.Read(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			e, err := environments.Entry(&doc, args[0])
			if err != nil {
				return err
			}
			return a.Show(e, func() {
				fields := [][2]string{{"env_id", e.EnvID}, {"issue", fmt.Sprintf("#%d", e.IssueNumber)}, {"title", e.Title}, {"branch", e.Branch},
					{"status", string(e.Status)}, {"phase", fmt.Sprintf("%d %s", int(e.Phase), e.Step)}, {"pr", number(e.PRNumber)}, {"area", e.Area},
					{"created", commandline.WhenKnown(e.CreatedAt)}, {"last used", commandline.WhenKnown(e.LastUsedAt)}}
				if b := e.Blocked; b != nil {
					fields = append(fields, [2]string{"blocked", string(b.Reason) + ": " + b.Description},
						[2]string{"since", commandline.WhenKnown(b.BlockedAt)}, [2]string{"suggested", b.SuggestedAction})
				}
				for _, finding := range e.PendingIssues {
					fields = append(fields, [2]string{"finding", finding})
				}
				a.PrintFields(10, fields...)
			})
		},
	}
}

func newEnvBlocked(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "blocked",
		RunE: func(c *cobra.Command, _ []string) error {
			doc, err := environments.Read(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			report := doc.BlockedReport()
			return a.Show(report, func() {
				if len(report) == 0 {
					a.Print("no environment is blocked\n")
					return
				}
				a.Print("%s\n", a.Paint(command.Yellow, "=== BLOCKED ENVIRONMENTS ==="))
				for _, b := range report {
					a.Print("  Issue #%d: %s\n", b.IssueNumber, redact.Line(b.Description, 400))
					a.Print("    Reason: %s\n", redact.Line(string(b.Reason), 40))
					a.Print("    Suggested: %s\n", redact.Line(b.SuggestedAction, 400))
					a.Print("    Blocked since: %s\n", commandline.WhenKnown(b.BlockedAt))
					a.Print("    When it is settled: signalbox env unblock %s\n", commandline.ShellWord(redact.Line(b.EnvID, 200)))
				}
			})
		},
	}
}

func newEnvPorts(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "ports [ENV]", Args: cobra.MaximumNArgs(1), ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			ranges, err := environments.Ports(c.Context(), a.Opener, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if len(ranges) == 0 && !a.JSON {
				a.Say("no environment is registered")
				return nil
			}
			return a.Show(ranges, func() {
				var rows [][]string
				for _, r := range ranges {
					rows = append(rows, []string{fmt.Sprintf("#%d", r.Issue), fmt.Sprintf("%d-%d", r.First, r.Last), r.EnvID})
				}
				a.PrintTable("ISSUE\tPORTS\tENV_ID", rows)
			})
		},
	}
}
