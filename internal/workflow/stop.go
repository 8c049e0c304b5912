package workflow

import (
	"slices"
	"time"
)

// BlockedReason is one of the six published reasons why a person must act before an issue can go on.
type BlockedReason string

const (
	DesignAmbiguity     BlockedReason = "design_ambiguity"      // the request can be read in more than one way
	ReviewLoopExceeded  BlockedReason = "review_loop_exceeded"  // three reviews in a row found something
	DependencyMissing   BlockedReason = "dependency_missing"    // another request must be merged first
	ExternalBlocker     BlockedReason = "external_blocker"      // something outside the project is in the way
	ResourceLimit       BlockedReason = "resource_limit"        // this machine ran out of disk space or memory
	CIPersistentFailure BlockedReason = "ci_persistent_failure" // the checks failed three times in a row
)

// Blocked says why a person is needed and what they should do. Resuming the run, or unblocking the entry, ends it.
type Blocked struct {
	Reason      BlockedReason `json:"reason"`
	Description string        `json:"description"`
	BlockedAt   time.Time     `json:"blocked_at"`
	// SuggestedAction is the next step in words.
	SuggestedAction string `json:"suggested_action"`
	// Next is the next step as data; null in an entry that a person or a script blocked.
	Next *NextStep `json:"next_step,omitempty"`
	// Context holds what belongs to the reason, such as ambiguous_points.
	Context map[string]any `json:"context"`
	Unknown Unknown        `json:",embed"`
}

// CanBeForced reports whether a person can let the run go on in spite of what stopped it.
func (r *Run) CanBeForced() bool {
	return r.State == NeedsInput && r.Error != nil && (r.Error.ReasonCode == WorkTooLarge || r.Error.ReasonCode == TestsCannotRun)
}

// Interrupted reports whether the run only lacks a process; it waits for no person.
func (r *Run) Interrupted() bool {
	return r.State == NeedsInput && r.Error != nil && r.Error.ReasonCode == InterruptedCode
}

// BlockingCodes are the reason codes of failed actions that count as one of the published reasons.
var BlockingCodes = map[string]BlockedReason{
	NoSpaceCode:          ResourceLimit,
	OutOfMemoryCode:      ResourceLimit,
	ForgeUnavailableCode: ExternalBlocker,
}

// hindrances are further reason codes of obstacles that are not the fault of the change.
var hindrances = []string{CheckoutInTheWayCode, RemoteMovedCode, NoIsolationCode, NoContainerCode, ChecksSilentCode, FilterFailedCode,
	ForgeLimitedCode, ForgeUnauthorizedCode, ForgeForbiddenCode}

// around are the actions around a change: an error that git, the forge or the machine reports there says nothing about the change. If a change can't
// be recorded or tested, it may itself be the cause.
var around = []ActionKind{CheckDependencies, CreateBranch, DetectEnvironment, CreateEnvironment, RestoreEnvironment, OpenPullRequest, WatchChecks,
	MergePullRequest, ClosePullRequest, RemoveEnvironment, CloseRequest, PostComment}

// Hindered reports whether the run stopped for an obstacle outside its change. Once that is out of the way, it continues where it is.
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

// MaySync reports whether the present base branch can be merged into the run's change: every step is done, and the run stopped before its merge.
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

// NothingRecorded reports whether the change has no commit yet.
func (j *Details) NothingRecorded() bool { return j.BaseCommit != "" && j.Head == j.BaseCommit }

// Notice is why a person who isn't watching should hear of a run.
type Notice string

const (
	NoticeAsks   Notice = "asks"   // its agent waits for an answer
	NoticeNeeded Notice = "needed" // it cannot go on without a person
	NoticeFailed Notice = "failed" // it failed
	NoticeMerged Notice = "merged" // it is done
)

// Urgent reports whether the run waits for a person.
func (n Notice) Urgent() bool { return n == NoticeAsks || n == NoticeNeeded }

// Notice returns what to tell about the run as it is now; nothing if it goes on by itself or a person stopped it.
func (r *Run) Notice() Notice {
	switch {
	case r.State == Running && r.Details.Question != nil:
		return NoticeAsks
	case r.State == Done:
		return NoticeMerged
	case r.State == Failed:
		return NoticeFailed
	case r.State != NeedsInput || r.Error == nil:
		return ""
	}
	switch r.Error.ReasonCode {
	case StopRequestedCode, InterruptedCode, PreparedCode:
		return ""
	}
	return NoticeNeeded
}
