package workflow

import "slices"

// hindrances are the reason codes of what stands in the way of a run and is no fault of its change, beside the blockingCodes.
var hindrances = []string{CheckoutInTheWayCode, RemoteMovedCode, NoIsolationCode, NoContainerCode, ChecksSilentCode, FilterFailedCode}

// around are the actions that go on around a change: what git, the forge or the machine answers there is no judgement of it.
// That a change cannot be recorded, or tested, may be its own doing.
var around = []ActionKind{CheckDependencies, CreateBranch, DetectEnvironment, CreateEnvironment, RenewEnvironment, OpenPullRequest, WatchChecks,
	MergePullRequest, ClosePullRequest, RemoveEnvironment, CloseRequest, PostComment}

// Hindered reports whether the run stands still because of something else than its change: it goes on where it stands once
// that is out of the way.
func (r *Run) Hindered() bool {
	if r.State != NeedsInput || r.Error == nil {
		return false
	}
	code, pending := r.Error.ReasonCode, r.Details.Pending
	if _, blocks := BlockingCodes[code]; blocks || slices.Contains(hindrances, code) {
		return true
	}
	return code == ActionFailedCode && len(pending) > 0 && slices.Contains(around, pending[0].Kind)
}
