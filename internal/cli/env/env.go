// Package env holds "signalbox env": environments and environments.json.
package env

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "env"}
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"place", "Environments:", []*cobra.Command{newEnvDetect(a), newEnvExec(a), newEnvShell(a), newEnvLogs(a), newEnvPorts(a),
			newEnvCache(a), newEnvRemove(a), newEnvCleanup(a)}},
		{"read", "Read environments.json:", append(newEnvFinds(a), newEnvList(a), newEnvShow(a), newEnvBlocked(a), newEnvResumeAction(a))},
		{"write", "Write environments.json:", append(newEnvChanges(a), newEnvAdd(a), newEnvBlock(a), newEnvSync(a))},
	} {
		c.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, command := range group.commands {
			command.GroupID = group.id
		}
		c.AddCommand(group.commands...)
	}
	return c
}

func parseNumber(what, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
	if err != nil || n < 1 {
		return 0, command.UsageError("a whole number from 1 on", "%q is not the number of %s", text, what)
	}
	return n, nil
}

// number is an optional number as text, empty if there is none.
func number[T ~int](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// offerEnvironments completes the id of an environment, then one of further; resolve-finding is offered the findings.
func offerEnvironments(a *command.Invocation, further ...string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 1 && c.Name() != "resolve-finding" {
			return further, cobra.ShellCompDirectiveNoFileComp
		}
		doc, err := environments.Read(c.Context(), a.Opener)
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, e := range doc.Environments {
			switch {
			case len(args) == 0 && strings.HasPrefix(e.EnvID, begun):
				words = append(words, cobra.CompletionWithDesc(redact.Line(e.EnvID, 200), redact.Line(e.Title, 60)))
			case len(args) == 1 && e.EnvID == args[0]:
				for _, finding := range e.PendingIssues {
					words = append(words, redact.Line(finding, 400))
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
