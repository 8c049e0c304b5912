package workflow

import (
	"slices"
	"time"
)

// BlockedReason is one of E5's six.
type BlockedReason string

const (
	DesignAmbiguity     BlockedReason = "design_ambiguity"
	ReviewLoopExceeded  BlockedReason = "review_loop_exceeded"
	DependencyMissing   BlockedReason = "dependency_missing"
	ExternalBlocker     BlockedReason = "external_blocker"
	ResourceLimit       BlockedReason = "resource_limit"
	CIPersistentFailure BlockedReason = "ci_persistent_failure"
)

// Blocked says why a person is needed and what they should do (E5).
type Blocked struct {
	Reason      BlockedReason `json:"reason"`
	Description string        `json:"description"`
	BlockedAt   time.Time     `json:"blocked_at"`
	// SuggestedAction is the next step in words, where there is one as data.
	SuggestedAction string         `json:"suggested_action"`
	Next            *NextStep      `json:"next_step,omitempty"`
	Context         map[string]any `json:"context"`
	Unknown         Unknown        `json:",embed"`
}

// CanBeForced reports whether a person can let the run go on against what stopped it.
func (r *Run) CanBeForced() bool {
	return r.State == NeedsInput && r.Error != nil && (r.Error.ReasonCode == WorkTooLarge || r.Error.ReasonCode == TestsCannotRun)
}

// Interrupted reports whether the run stands still for want of a process, and not for a person.
func (r *Run) Interrupted() bool {
	return r.State == NeedsInput && r.Error != nil && r.Error.ReasonCode == InterruptedCode
}

// BlockingCodes are the reason codes that are one of the published reasons for being blocked.
var BlockingCodes = map[string]BlockedReason{
	NoSpaceCode:          ResourceLimit,
	OutOfMemoryCode:      ResourceLimit,
	ForgeUnavailableCode: ExternalBlocker,
}

// hindrances are the reason codes of what stands in the way of a run and is no fault of its change, beside the BlockingCodes.
var hindrances = []string{CheckoutInTheWayCode, RemoteMovedCode, NoIsolationCode, NoContainerCode, ChecksSilentCode, FilterFailedCode}

// around are the actions that go on around a change: what git, the forge or the machine answers there is no judgement of it.
// That a change cannot be recorded, or tested, may be its own doing.
var around = []ActionKind{CheckDependencies, CreateBranch, DetectEnvironment, CreateEnvironment, RestoreEnvironment, OpenPullRequest, WatchChecks,
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

// MaySync reports whether the base branch of now can be merged into the run's change: every step is done, and the run
// stands still before its merge.
func (r *Run) MaySync() bool {
	j := &r.Details
	if r.State != NeedsInput && r.State != Failed || j.Canceling || j.MergeCommit != "" || j.Head == j.BaseCommit || len(r.Steps) == 0 {
		return false
	}
	for _, s := range r.Steps {
		if s.Status != StepDone && s.Status != StepSkipped {
			return false
		}
	}
	return true
}

// When a person resumes or retries a run, it continues from its base branch as it is now: a base that was fixed or moved on since must not
// cost another call. If nothing is recorded, the run starts over there and keeps its plan; that costs a setup. Otherwise the base is merged
// into what is recorded, as "signalbox sync" does. Starting over would pay for each step again, and a rebase would rewrite commits that
// people may have reviewed. After the steps, the merge candidate is tested on today's base anyway.

// NothingRecorded: the change has no commit yet.
func (j *Details) NothingRecorded() bool { return j.BaseCommit != "" && j.Head == j.BaseCommit }
