package env

import (
	"context"
	"fmt"
	"time"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

// changeEnvironment performs one operation on an entry and shows what became of it.
func changeEnvironment(ctx context.Context, a *command.Invocation, id string, change func(e *registry.Environment, now time.Time) error) error {
	return changeEnvironments(ctx, a, id, func(doc *registry.Environments, now time.Time) error {
		e, err := doc.Find(id)
		if err != nil {
			return err
		}
		return change(e, now)
	})
}

func changeEnvironments(ctx context.Context, a *command.Invocation, id string, change func(*registry.Environments, time.Time) error) error {
	after, err := environments.Change(ctx, a.Opener, id, change)
	if err != nil {
		return err
	}
	if after.Run != nil {
		a.Warn("run %s is alive (pid %d) and writes this entry anew at its next transition", after.Run.Ref(), after.Holder.PID)
	}
	if a.JSON {
		return a.PrintJSON(after.Environment)
	}
	a.Print("%s\n", summary(&after.Environment))
	return nil
}

// summary is one entry on one line.
func summary(e *registry.Environment) string {
	line := fmt.Sprintf("%s: issue #%d, %s, phase %d %s", e.EnvID, e.IssueNumber, e.Status, e.Phase, e.Step)
	if e.PRNumber != nil {
		line += fmt.Sprintf(", pull request %d", *e.PRNumber)
	}
	if n := len(e.PendingIssues); n > 0 {
		line += ", " + commandline.Count(n, "open finding")
	}
	return redact.Line(line, 500)
}
