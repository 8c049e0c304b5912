package hosted

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// Rerun implements forge.Rerunner. The server's count of attempts keeps a job from being started a third time. Jobs that someone else started again are
// among those that are returned.
func (f *Forge) Rerun(ctx context.Context, number int, head string) (jobs []string, err error) {
	pr, err := f.Git.PullRequest(ctx, number)
	if err != nil {
		return nil, fmt.Errorf("run failed jobs again: %w", err)
	}
	required, verdicts, err := f.verdicts(ctx, pr.Base, head, rulesFor)
	if err != nil {
		return nil, fmt.Errorf("run failed jobs again: %w", err)
	}
	runs, err := f.runs(ctx, head, counting(required, verdicts))
	if err != nil {
		return nil, fmt.Errorf("run failed jobs again: %w", err)
	}
	for _, run := range runs {
		if run.Attempts < 2 && run.Busy { // what failed in it can't be run again now
			continue
		}
		if run.Attempts < 2 {
			if err := f.Server.(forge.CI).Rerun(ctx, run); err != nil {
				return nil, fmt.Errorf("run failed jobs again: %w", err)
			}
		}
		for _, job := range run.Failed {
			jobs = append(jobs, redact.Line(job, maxTitle))
		}
	}
	slices.Sort(jobs)
	return slices.Compact(jobs), nil
}

// runs returns the runs in which something failed; none if the server can't tell, or doesn't tell us.
func (f *Forge) runs(ctx context.Context, head string, of []forge.Verdict) ([]forge.CIRun, error) {
	ci, can := f.Server.(forge.CI)
	if !can {
		return nil, nil
	}
	runs, err := ci.CIRuns(ctx, head, of)
	if errors.Is(err, forge.ErrNotFound) {
		return nil, nil
	}
	if err := f.unlessRefused(ctx, "look for the runs of failed jobs", err); err != nil {
		return nil, fmt.Errorf("ask the forge for the runs of failed jobs: %w", err)
	}
	return runs, nil
}
