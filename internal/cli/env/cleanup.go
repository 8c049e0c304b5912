package env

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newEnvCleanup(a *command.Invocation) *cobra.Command {
	clean := &envCleanup{Invocation: a}
	c := &cobra.Command{
		Use:   "cleanup",
		Short: "Delete environments that were merged 7 days ago or abandoned; list unused ones",
		Long: "Delete the environment and the entry of what was merged 7 days ago or is abandoned, after its work is on a ref. What is\n" +
			"unused for 30 days is listed, never deleted. It asks before it deletes what it cannot prove to be wanted gone: entries\n" +
			"whose environment another tool made, and those of runs that are not over. What a living run holds stays.",
		Example: "  signalbox env cleanup --dry-run\n  signalbox env cleanup\n  signalbox env cleanup --yes",
		RunE:    func(c *cobra.Command, _ []string) error { return clean.run(c.Context()) },
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

// cleared is one environment of the report: what is thought of it, what makes
// it a person's to decide, and what was done.
type cleared struct {
	registry.Clearance
	Unproven string `json:"unproven,omitempty"`
	// Done is delete or review in a dry run, else deleted, kept or review.
	Done    string `json:"done"`
	KeptRef string `json:"kept_ref,omitempty"`
}

const (
	cleanupDeleted = "deleted"
	cleanupKept    = "kept"
)

func (c *envCleanup) run(ctx context.Context) error {
	s, doc, err := openEnvironments(ctx, c.Invocation, c.dry)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	report := []cleared{}
	var worst error
	for _, found := range doc.CleanUp(time.Now()) {
		line, err := c.one(ctx, s, found)
		if err != nil {
			c.ShowError(err)
			worst = &problem.Error{Code: problem.CodeOf(err)}
		}
		report = append(report, line)
		if !c.JSON {
			c.printCleared(&line)
		}
	}
	if c.JSON {
		return errors.Join(c.PrintJSON(report), worst)
	}
	if len(report) == 0 {
		c.Print("nothing to clean up\n")
	}
	return worst
}

func (c *envCleanup) one(ctx context.Context, s *store.Store, found registry.Clearance) (cleared, error) {
	line := cleared{Clearance: found, Done: string(found.Verdict)}
	run, err := runOfEnvironment(ctx, s, found.EnvID)
	if err != nil {
		line.Done = cleanupKept
		return line, wire.Explained(err)
	}
	switch {
	case run == nil:
		line.Unproven = "its environment was not made here and is left alone; only the entry would go"
	case !run.State.Final():
		line.Unproven = fmt.Sprintf("its run %s is not over (%s)", run.Ref(), run.State)
	}
	if c.dry || found.Verdict != registry.ClearDelete {
		return line, nil
	}
	line.Done = cleanupKept
	if agreed, err := c.agreed(ctx, &line); err != nil || !agreed {
		return line, err
	}
	if line.KeptRef, err = c.delete(ctx, s, run, found.EnvID); err != nil {
		return line, err
	}
	line.Done = cleanupDeleted
	return line, nil
}

// agreed is whether a person wants what is not proven. Nobody to ask is no.
func (c *envCleanup) agreed(ctx context.Context, line *cleared) (bool, error) {
	if line.Unproven == "" || c.yes {
		return true, nil
	}
	if file, ok := c.In.(*os.File); ok && !term.IsTerminal(int(file.Fd())) {
		return false, &problem.Error{Err: fmt.Errorf("environment %s: %s", line.EnvID, line.Unproven), Hint: "signalbox env cleanup --yes", Code: problem.NeedsInput}
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

func (c *envCleanup) delete(ctx context.Context, s *store.Store, run *workflow.Run, id string) (kept string, err error) {
	if run != nil {
		return removeOfRun(ctx, c.Invocation, run, false)
	}
	err = s.Environments().Update(ctx, func(doc *registry.Environments) error {
		for _, still := range doc.CleanUp(time.Now()) { // somebody may have gone on with it while the question stood
			if still.EnvID == id && still.Verdict == registry.ClearDelete {
				return doc.Remove(id)
			}
		}
		return fmt.Errorf("environment %s was taken up again", id)
	})
	return "", wire.Explained(err)
}

func (c *envCleanup) printCleared(line *cleared) {
	done := line.Done
	if c.dry && line.Verdict == registry.ClearDelete {
		done = "would delete"
	}
	c.Print("%s %s (issue #%d): %s", done, line.EnvID, line.IssueNumber, line.Why)
	if line.Unproven != "" && line.Done != cleanupDeleted {
		c.Print("; %s", line.Unproven)
	}
	if line.KeptRef != "" {
		c.Print("; %s", keptOn(line.KeptRef))
	}
	c.Print("\n")
}
