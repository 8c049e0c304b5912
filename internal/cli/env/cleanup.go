package env

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

func newEnvCleanup(a *command.Invocation) *cobra.Command {
	clean := &envCleanup{Invocation: a}
	c := &cobra.Command{
		Use:  "cleanup",
		RunE: func(c *cobra.Command, _ []string) error { return clean.run(c.Context()) },
	}
	c.Flags().BoolVarP(&clean.dry, "dry-run", "n", false, "only say what would be done")
	c.Flags().BoolVarP(&clean.yes, "yes", "y", false, "answer every question with yes")
	return c
}

type envCleanup struct {
	*command.Invocation
	dry, yes bool
	answers  *bufio.Reader
}

func (c *envCleanup) run(ctx context.Context) (err error) {
	e, err := environments.Open(ctx, c.Opener, c.dry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	report := []environments.Cleared{}
	var worst error
	e.CleanUp(ctx, c.dry, c.agreed, func(line environments.Cleared, err error) {
		if err != nil {
			c.ShowError(err)
			worst = &problem.Error{Code: problem.CodeOf(err)}
		}
		report = append(report, line)
		if !c.JSON {
			c.printCleared(&line)
		}
	})
	if c.JSON {
		return errors.Join(c.PrintJSON(report), worst)
	}
	if len(report) == 0 {
		c.Print("nothing to clean up\n")
	}
	return worst
}

// agreed is whether a person wants what is not proven. Nobody to ask is no.
func (c *envCleanup) agreed(ctx context.Context, line *environments.Cleared) (bool, error) {
	if c.yes {
		return true, nil
	}
	if file, ok := c.In.(*os.File); ok && !term.IsTerminal(int(file.Fd())) {
		return false, &problem.Error{Err: fmt.Errorf("environment %s stays, for nobody can be asked here: %s", redact.Line(line.EnvID, 200), line.Unproven), Hint: "let all go that is named here: signalbox env cleanup --yes", Code: problem.NeedsInput}
	}
	if c.answers == nil {
		c.answers = bufio.NewReader(c.In)
	}
	c.Warn("%s (issue #%d, %s): %s", line.EnvID, line.IssueNumber, line.Why, line.Unproven)
	_, _ = fmt.Fprint(c.Err, "Delete it? [y/N] ")
	answer, err := command.ReadLine(ctx, c.answers)
	if ctx.Err() != nil {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

func (c *envCleanup) printCleared(line *environments.Cleared) {
	done := line.Done
	if c.dry && line.Verdict == registry.ClearDelete {
		done = "would delete"
	}
	c.Print("%s %s (issue #%d): %s", done, line.EnvID, line.IssueNumber, line.Why)
	if line.Unproven != "" && line.Done != environments.Deleted {
		c.Print("; %s", line.Unproven)
	}
	if line.KeptRef != "" {
		c.Print("; %s", keptOn(line.KeptRef))
	}
	c.Print("\n")
}
