package registry

import (
	"fmt"
	"strings"
	"time"

	"signalbox/internal/workflow"
)

// Over reports whether the work in this environment has ended, merged or abandoned.
func (e *Environment) Over() bool {
	return e.Status == EnvironmentMerged || e.Status == EnvironmentAbandoned
}

// refuse returns an ErrNotApplicable that names the entry and its status, then the given reason.
func (e *Environment) refuse(format string, args ...any) error {
	return fmt.Errorf("%w: environment %q is %s: %s", ErrNotApplicable, e.EnvID, e.Status, fmt.Sprintf(format, args...))
}

// Touch records a use of the environment, in whole seconds. Any status allows it.
func (e *Environment) Touch(now time.Time) { e.LastUsedAt = second(now) }

// SetPhase records how far the work is, and a use. A phase may also go back, as after a review, and
// a block stays. It returns ErrNotApplicable for an abandoned entry, and for a merged one unless p is
// merge-cleanup or later.
func (e *Environment) SetPhase(p workflow.Phase, now time.Time) error {
	if e.Status == EnvironmentAbandoned || e.Status == EnvironmentMerged && p < workflow.MergeCleanup {
		return e.refuse("its work has ended; register a new environment for the issue")
	}
	e.Phase, e.Step = p, p.Step()
	e.Touch(now)
	return nil
}

// ParsePosition returns the phase that one or two words name: a step ("tdd-green"), a number ("5"),
// or a number and a step ("5 tdd-green"), as older scripts write it.
//
// If the two disagree, the step counts and fixed is true, so that the caller can tell the user. The
// error is an ErrInvalidEntry that lists the steps.
func ParsePosition(words ...string) (p workflow.Phase, fixed bool, err error) {
	var number, step = "", words[len(words)-1]
	if len(words) == 2 {
		number = words[0]
	}
	p, ok := workflow.PhaseOf(workflow.StepName(step))
	if !ok && len(words) == 1 {
		for _, row := range workflow.Positions {
			if step == fmt.Sprint(int(row.Phase)) {
				return row.Phase, false, nil
			}
		}
		return 0, false, fmt.Errorf("%w: phase %q: want 0 to %d or one of %s", ErrInvalidEntry, step, workflow.LastPhase, workflow.StepNames())
	}
	if !ok {
		return 0, false, fmt.Errorf("%w: step %q: want one of %s", ErrInvalidEntry, step, workflow.StepNames())
	}
	return p, number != "" && number != fmt.Sprint(int(p)), nil
}

// UpdatePR records the number of the pull request that was opened, and a use. The work moves to
// pr-create, but recording the same number again doesn't move it back. A blocked entry stays blocked.
//
// It returns ErrInvalidEntry for a number below 1, and ErrNotApplicable if the work is over.
func (e *Environment) UpdatePR(number int, now time.Time) error {
	if number < 1 {
		return fmt.Errorf("%w: pull request number %d: want 1 or more", ErrInvalidEntry, number)
	}
	if e.Over() {
		return e.refuse("its work has ended; register a new environment for the issue")
	}
	again := e.PRNumber != nil && *e.PRNumber == number
	e.PRNumber = &number
	if e.Status != EnvironmentBlocked {
		e.Status = EnvironmentPRCreated
	}
	if !again || e.Phase < workflow.PRCreate {
		e.Phase, e.Step = workflow.PRCreate, workflow.PRCreate.Step()
	}
	e.Touch(now)
	return nil
}

// MarkMerged records that the change was merged, and a use. It ends a block, and moves the work to
// merge-cleanup unless it is further already. Marking a merged entry again changes nothing: the 7 days
// until cleanup count from the first time.
//
// An abandoned entry becomes merged too, because a merge is a fact that no one can take back.
func (e *Environment) MarkMerged(now time.Time) {
	if e.Status == EnvironmentMerged {
		return
	}
	e.Status, e.Blocked = EnvironmentMerged, nil
	if _, known := workflow.PhaseOf(e.Step); !known || e.Phase < workflow.MergeCleanup {
		e.Phase, e.Step = workflow.MergeCleanup, workflow.MergeCleanup.Step()
	}
	e.Touch(now)
}

// MarkAbandoned records that the work was given up, or its pull request closed without a merge, and
// a use. It ends a block; the phase stays, to show how far the work came. Marking an abandoned entry
// again changes nothing. It returns ErrNotApplicable for a merged one.
func (e *Environment) MarkAbandoned(now time.Time) error {
	switch e.Status {
	case EnvironmentMerged:
		return e.refuse("a merged change can't be abandoned")
	case EnvironmentAbandoned:
		return nil
	}
	e.Status, e.Blocked = EnvironmentAbandoned, nil
	e.Touch(now)
	return nil
}

// BlockedReasons are the reasons that the format allows for a block, as command lines offer them.
var BlockedReasons = []workflow.BlockedReason{workflow.DesignAmbiguity, workflow.ReviewLoopExceeded, workflow.DependencyMissing, workflow.ExternalBlocker, workflow.ResourceLimit, workflow.CIPersistentFailure}

// suggestions say what to do about each reason, if the block itself doesn't say.
var suggestions = map[workflow.BlockedReason]string{
	workflow.DesignAmbiguity:     "resolve the ambiguity in the design, then unblock",
	workflow.ReviewLoopExceeded:  "reconsider the design: three reviews failed",
	workflow.DependencyMissing:   "wait until its dependencies are merged, then unblock",
	workflow.ExternalBlocker:     "ask the people who can remove the obstacle, then unblock",
	workflow.ResourceLimit:       "free disk space, memory or containers, then unblock",
	workflow.CIPersistentFailure: "investigate the checks: they failed three times in a row",
}

// Block stops the work until a person has acted. It sets the time of the block, and the suggested
// action if b has none. Blocking a blocked entry replaces the reason. A block is no use.
//
// It returns ErrNotApplicable if the work is over, and ErrInvalidEntry for a reason that isn't one of
// BlockedReasons or an empty description.
func (e *Environment) Block(b workflow.Blocked, now time.Time) error {
	if e.Over() {
		return e.refuse("its work has ended, so there is nothing to block")
	}
	suggestion, known := suggestions[b.Reason]
	if !known {
		return fmt.Errorf("%w: reason %q: want one of %s", ErrInvalidEntry, b.Reason, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(BlockedReasons)), ", "), "[]"))
	}
	if strings.TrimSpace(b.Description) == "" {
		return fmt.Errorf("%w: description is empty: say what blocks the work", ErrInvalidEntry)
	}
	if b.SuggestedAction == "" {
		b.SuggestedAction = suggestion
	}
	b.BlockedAt = second(now)
	e.Status, e.Blocked = EnvironmentBlocked, &b
	return nil
}

// Unblock ends a block and restores the status before it. It returns false, and changes nothing, if
// the entry isn't blocked.
func (e *Environment) Unblock() bool {
	if e.Status != EnvironmentBlocked {
		return false
	}
	e.Status, e.Blocked = e.unblocked(), nil
	return true
}

// unblocked returns the status under a block. No key holds it: an entry with a pull request was
// pr_created, any other active.
func (e *Environment) unblocked() EnvironmentStatus {
	if e.PRNumber != nil {
		return EnvironmentPRCreated
	}
	return EnvironmentActive
}
