package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"

	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func (p *examination) lookAtRequests(ctx context.Context, add func(Finding)) {
	requests, err := p.Forge.Requests(ctx)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		add(Finding{"requests", VerdictWarning, err.Error(), "fix the file"})
	}
	add(Finding{What: "requests", Verdict: VerdictOK, Says: fmt.Sprintf("%d in requests/", len(requests))})
	var base *problem.Error
	if errors.As(p.MayMergeInto(ctx, p.Config.Base, forge.Request{}), &base) && p.Config.Base != "" && base.Hint != wire.FirstCommit { // that is said of the repository
		add(Finding{"base", VerdictMissing, base.Error(), base.Hint})
	}
}

func (p *examination) lookAtRuns(ctx context.Context, add func(Finding)) {
	runs, err := p.Latest(ctx)
	if err != nil {
		add(Finding{"runs", VerdictMissing, err.Error(), ""})
		return
	}
	for _, r := range runs {
		if r.Err != nil {
			add(Finding{"run", VerdictMissing, r.Err.Error(), "the file is kept as it is: fix it by hand, or move its folder away"})
			continue
		}
		_, held, err := p.Held(ctx, r.Ref.RequestID)
		if err == nil && !held && (r.Run.State == workflow.Running || r.Run.State == workflow.Queued) {
			add(Finding{"run " + r.Run.Ref(), VerdictWarning, "no process carries it: it was cut off", "signalbox resume " + r.Run.Ref()})
		}
	}
}
