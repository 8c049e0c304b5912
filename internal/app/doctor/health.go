package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/heal"
)

// lookAtHealth reports the health checks that find out nothing now, because what they examine is missing.
func (p *examination) lookAtHealth(ctx context.Context, add func(Finding)) {
	blind := 0
	for _, c := range p.Config.Health.Checks {
		why, next := p.blind(ctx, c)
		if why == "" {
			continue
		}
		blind++
		add(Finding{"health", VerdictWarning, fmt.Sprintf("%s, so health check %s finds out nothing", why, c.ID), next})
	}
	if all := len(p.Config.Health.Checks); all > blind {
		add(Finding{What: "health", Verdict: VerdictOK, Says: commandline.Count(all-blind, "health check") + ` for "signalbox heal"`})
	}
}

// blind says why a check can see nothing, and what to do about it; empty if it can, as far as we know before it runs.
func (p *examination) blind(ctx context.Context, c config.Check) (why, next string) {
	switch c.Kind {
	case config.CheckLog:
		next = "fix its file in " + config.Name + ", or have the log written"
		file, err := heal.OpenLog(p.Root, c.File)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("the log %q is not there", c.File), next
		}
		if err != nil {
			return err.Error(), next
		}
		_ = file.Close()
	case config.CheckForgeCI:
		next = "take kind branch-tests, which runs the tests itself"
		branches, ok := p.Forge.(forge.Branches)
		if !ok {
			return "this forge knows of no CI", next
		}
		base, err := p.Base(ctx)
		if err != nil { // lookAtRepository reports it
			return "", ""
		}
		if _, err = branches.BranchCheck(ctx, base); errors.Is(err, forge.ErrNoChecks) {
			return fmt.Sprintf("no CI has looked at what is on %s now", base), next
		}
		if err != nil && !errors.Is(err, forge.ErrPending) {
			return err.Error(), next
		}
	}
	return "", ""
}
