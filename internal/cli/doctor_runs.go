package cli

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

func (p *project) lookAtRequests(ctx context.Context, add func(finding)) {
	requests, err := p.Forge.Requests(ctx)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		add(finding{"requests", verdictWarning, err.Error(), "mend the file"})
	}
	add(finding{What: "requests", Verdict: verdictOK, Says: fmt.Sprintf("%d in requests/", len(requests))})
	var base *problem.Error
	if errors.As(p.MayMergeInto(ctx, p.Config.Base, forge.Request{}), &base) && p.Config.Base != "" && base.Hint != wire.FirstCommit { // that is said of the repository
		add(finding{"base", verdictMissing, base.Error(), base.Hint})
	}
}

func (p *project) lookAtRuns(ctx context.Context, add func(finding)) {
	runs, err := p.Latest(ctx)
	if err != nil {
		add(finding{"runs", verdictMissing, err.Error(), ""})
		return
	}
	for _, r := range runs {
		if r.Err != nil {
			add(finding{"run", verdictMissing, r.Err.Error(), "the file is kept as it is: mend it by hand, or move its folder away"})
			continue
		}
		_, held, err := p.Held(ctx, r.Ref.RequestID)
		if err == nil && !held && (r.Run.State == workflow.Running || r.Run.State == workflow.Queued) {
			add(finding{"run " + r.Run.Ref(), verdictWarning, "no process carries it: it was cut off", "signalbox resume " + r.Run.Ref()})
		}
	}
}
