package workflow

import "time"

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
