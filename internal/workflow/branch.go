package workflow

import (
	"slices"
	"time"

	"signalbox/internal/workflow/wording"
)

// BranchMove is one time that the run's branch was found where Signalbox had not put it, or that the base was merged into it.
type BranchMove struct {
	// Commit is where the branch was found; empty if it had been deleted.
	Commit string `json:"commit"`
	// Commits is how many commits the change lacked, By their authors.
	Commits int `json:"commits"`
	// Base is the base branch's commit that Signalbox merged into the change; empty if a person moved the branch.
	Base string   `json:"base,omitempty"`
	By   []string `json:"by,omitempty"`
	// TakenUp: the commits are part of the change. Otherwise they stay out of it, and KeptRef holds them.
	TakenUp bool   `json:"taken_up"`
	KeptRef string `json:"kept_ref,omitempty"`
	// Agreed: a person approved the change since, or no one had to.
	Agreed  bool      `json:"agreed"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// String says what happened, as part of a sentence: "2 commits by Ada on the branch were added to the change".
func (b BranchMove) String() string {
	who, were := b.Whose(), " were"
	if b.Commits == 1 {
		were = " was"
	}
	switch {
	case b.Base != "":
		return "the base branch at " + wording.ShortID(b.Base) + " was merged into the change"
	case b.TakenUp:
		return who + " on the branch" + were + " added to the change"
	case b.Commit == "":
		return "the branch was deleted and made again"
	case b.Commits == 0:
		return "the branch was set back to " + wording.ShortID(b.Commit) + " and then moved on again"
	}
	return who + " on the branch" + were + " left out of the change (git log " + b.KeptRef + ")"
}

// Whose says how many commits there were, and by whom: "2 commits by Ada".
func (b BranchMove) Whose() string {
	who := wording.Count(b.Commits, "commit")
	if len(b.By) > 0 {
		who += " by " + wording.Join(b.By)
	}
	return who
}

// Untested reports whether the tests have not passed on the head: it is a person's commit, a merge of the base, or an attempt that failed.
func (j *Details) Untested() bool {
	last := UnitTests
	if len(j.Settings.TestsE2E) > 0 {
		last = E2ETests
	}
	return !slices.ContainsFunc(j.Evidence, func(e Evidence) bool {
		return e.Commit == j.Head && (e.Passed || len(e.Known) > 0) && e.Purpose == string(last)
	})
}
