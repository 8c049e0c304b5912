package registry

import (
	"fmt"
	"time"

	"signalbox/internal/workflow"
)

// Times of E12.
const (
	MergedRetention = 7 * 24 * time.Hour
	UnusedReview    = 30 * 24 * time.Hour
)

// ClearanceVerdict is what clean-up thinks of an environment.
type ClearanceVerdict string

const (
	ClearDelete ClearanceVerdict = "delete" // with its entry, after its work is on a ref
	ClearReview ClearanceVerdict = "review" // a person looks; never deleted unasked
)

// Clearance is one environment that clean-up has something to say about.
type Clearance struct {
	EnvID       string            `json:"env_id"`
	IssueNumber int               `json:"issue_number"`
	Status      EnvironmentStatus `json:"status"`
	Verdict     ClearanceVerdict  `json:"verdict"`
	Why         string            `json:"why"`
}

// CleanUp applies E12. A time that is not known, or in the future, is no proof of age.
func (doc *Environments) CleanUp(now time.Time) (found []Clearance) {
	for _, e := range doc.Environments {
		c := Clearance{EnvID: e.EnvID, IssueNumber: e.IssueNumber, Status: e.Status, Verdict: ClearReview}
		idle := now.Sub(e.LastUsedAt)
		days := int(idle / (24 * time.Hour))
		switch {
		case e.Status == EnvironmentAbandoned:
			c.Verdict, c.Why = ClearDelete, "abandoned"
		case e.LastUsedAt.IsZero():
			c.Why = "it is not known when it was last used"
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

// BlockedEnvironment is one line of the report of E11.
type BlockedEnvironment struct {
	EnvID           string                 `json:"env_id"`
	IssueNumber     int                    `json:"issue_number"`
	Reason          workflow.BlockedReason `json:"reason"`
	Description     string                 `json:"description"`
	SuggestedAction string                 `json:"suggested_action"`
	BlockedAt       time.Time              `json:"blocked_at"`
}

// BlockedReport lists every blocked environment, in the order of the document.
func (doc *Environments) BlockedReport() []BlockedEnvironment {
	report := []BlockedEnvironment{}
	for _, e := range doc.Environments {
		if e.Status != EnvironmentBlocked {
			continue
		}
		line := BlockedEnvironment{EnvID: e.EnvID, IssueNumber: e.IssueNumber, Description: "it does not say why"}
		if b := e.Blocked; b != nil {
			line.Reason, line.Description, line.SuggestedAction, line.BlockedAt = b.Reason, b.Description, b.SuggestedAction, b.BlockedAt
		}
		report = append(report, line)
	}
	return report
}
