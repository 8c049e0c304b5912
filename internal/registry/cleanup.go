package registry

import (
	"fmt"
	"time"

	"signalbox/internal/workflow"
)

// The ages at which cleanup proposes something, counted from the last use of an environment.
const (
	// MergedRetention is how long a merged environment is kept, for those who want to look at it.
	MergedRetention = 7 * 24 * time.Hour
	// UnusedReview is how long any environment may be unused before a person is asked to look at it.
	UnusedReview = 30 * 24 * time.Hour
)

// ClearanceVerdict is what cleanup proposes for an environment.
type ClearanceVerdict string

const (
	// ClearDelete: delete the environment and its entry, once its work is on a ref.
	ClearDelete ClearanceVerdict = "delete"
	// ClearReview: a person should look. Cleanup itself never deletes such an environment.
	ClearReview ClearanceVerdict = "review"
)

// Clearance is cleanup's proposal for one environment, as "signalbox env cleanup" prints it.
type Clearance struct {
	// EnvID, IssueNumber and Status are those of the entry.
	EnvID       string            `json:"env_id"`
	IssueNumber int               `json:"issue_number"`
	Status      EnvironmentStatus `json:"status"`
	// Verdict is ClearDelete or ClearReview.
	Verdict ClearanceVerdict `json:"verdict"`
	// Why is the reason for people: a few words, such as "merged 9 days ago".
	Why string `json:"why"`
}

// CleanUp returns a proposal for each environment that is old enough or abandoned, in the order of
// the document, and changes nothing. Other environments are left out.
//
// An unknown last use is no proof of age: a person must look, unless the entry is abandoned. A last use
// in the future was written by a wrong clock and counts as recent.
func (doc *Environments) CleanUp(now time.Time) (found []Clearance) {
	for _, e := range doc.Environments {
		c := Clearance{EnvID: e.EnvID, IssueNumber: e.IssueNumber, Status: e.Status, Verdict: ClearReview}
		idle := now.Sub(e.LastUsedAt)
		days := int(idle / (24 * time.Hour))
		switch {
		case e.Status == EnvironmentAbandoned:
			c.Verdict, c.Why = ClearDelete, "abandoned"
		case e.LastUsedAt.IsZero():
			c.Why = "its last use is unknown"
		case e.Status == EnvironmentMerged && idle >= MergedRetention:
			c.Verdict, c.Why = ClearDelete, fmt.Sprintf("merged %d days ago", days)
		case idle >= UnusedReview:
			c.Why = fmt.Sprintf("unused for %d days", days)
		default:
			continue
		}
		found = append(found, c)
	}
	return found
}

// BlockedEnvironment is one entry of the report on blocked work, for people and, as JSON, for scripts.
type BlockedEnvironment struct {
	// EnvID and IssueNumber are those of the entry.
	EnvID       string `json:"env_id"`
	IssueNumber int    `json:"issue_number"`
	// Reason is one of BlockedReasons; empty if another program gave none.
	Reason workflow.BlockedReason `json:"reason"`
	// Description says what blocks the work. It may have several lines, and is never empty in an entry
	// that Signalbox wrote.
	Description string `json:"description"`
	// SuggestedAction says what to do.
	SuggestedAction string `json:"suggested_action"`
	// BlockedAt is when the work was blocked; the zero time if unknown.
	BlockedAt time.Time `json:"blocked_at"`
}

// BlockedReport lists every blocked environment, in the order of the document. It is never nil, so
// that its JSON is a list even if nothing is blocked.
func (doc *Environments) BlockedReport() []BlockedEnvironment {
	report := []BlockedEnvironment{}
	for _, e := range doc.Environments {
		if e.Status != EnvironmentBlocked {
			continue
		}
		line := BlockedEnvironment{EnvID: e.EnvID, IssueNumber: e.IssueNumber, Description: "no reason is given"}
		if b := e.Blocked; b != nil {
			line.Reason, line.Description, line.SuggestedAction, line.BlockedAt = b.Reason, b.Description, b.SuggestedAction, b.BlockedAt
		}
		report = append(report, line)
	}
	return report
}
