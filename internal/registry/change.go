package registry

import (
	"fmt"
	"strings"
	"time"

	"signalbox/internal/workflow"
)

// Over: the work in this environment has ended, well or not.
func (e *Environment) Over() bool {
	return e.Status == EnvironmentMerged || e.Status == EnvironmentAbandoned
}

func (e *Environment) refuse(format string, args ...any) error {
	return fmt.Errorf("environment %q is %s: %s: %w", e.EnvID, e.Status, fmt.Sprintf(format, args...), ErrNotApplicable)
}

// Touch says that the environment was opened or changed.
func (e *Environment) Touch(now time.Time) { e.LastUsedAt = second(now) }

// SetPhase records where the work stands. Of what is merged only the clean-up is left.
func (e *Environment) SetPhase(p workflow.Phase, now time.Time) error {
	if e.Status == EnvironmentAbandoned || e.Status == EnvironmentMerged && p < workflow.MergeCleanup {
		return e.refuse("its work does not go on; register a new environment for the issue")
	}
	e.Phase, e.Step = p, p.Step()
	e.Touch(now)
	return nil
}

// ParsePosition is the phase that a person or a script names by its step, its
// number, or both. The step's name is the key: mended says that the number was another.
func ParsePosition(words ...string) (p workflow.Phase, mended bool, err error) {
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
		return 0, false, fmt.Errorf("phase %q: want 0 to %d or one of %s: %w", step, workflow.LastPhase, workflow.StepNames(), ErrInvalidEntry)
	}
	if !ok {
		return 0, false, fmt.Errorf("step %q: want one of %s: %w", step, workflow.StepNames(), ErrInvalidEntry)
	}
	return p, number != "" && number != fmt.Sprint(int(p)), nil
}

// UpdatePR records the pull request that was opened. A block stays.
func (e *Environment) UpdatePR(number int, now time.Time) error {
	if number < 1 {
		return fmt.Errorf("pull request number %d: want one from 1 on: %w", number, ErrInvalidEntry)
	}
	if e.Over() {
		return e.refuse("it takes no pull request any more; register a new environment for the issue")
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

// MarkMerged records that the pull request was merged; a block has no meaning
// after it. Saying it again does not prolong the time until clean-up.
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

// MarkAbandoned records that the work was given up, or its pull request closed unmerged.
func (e *Environment) MarkAbandoned(now time.Time) error {
	switch e.Status {
	case EnvironmentMerged:
		return e.refuse("what is merged cannot be given up")
	case EnvironmentAbandoned:
		return nil
	}
	e.Status, e.Blocked = EnvironmentAbandoned, nil
	e.Touch(now)
	return nil
}

// BlockedReasons are E5's six.
var BlockedReasons = []workflow.BlockedReason{workflow.DesignAmbiguity, workflow.ReviewLoopExceeded, workflow.DependencyMissing, workflow.ExternalBlocker, workflow.ResourceLimit, workflow.CIPersistentFailure}

// suggestions are what to do where whoever blocks says nothing of it.
var suggestions = map[workflow.BlockedReason]string{
	workflow.DesignAmbiguity:     "make the design unambiguous, then unblock",
	workflow.ReviewLoopExceeded:  "look at the design again: three reviews failed",
	workflow.DependencyMissing:   "wait until what it depends on is merged, then unblock",
	workflow.ExternalBlocker:     "ask whoever can remove the obstacle",
	workflow.ResourceLimit:       "free disk space, memory or containers, then unblock",
	workflow.CIPersistentFailure: "look at the checks by hand: they failed three times in a row",
}

// Block stops the work until a person has acted. Blocking again says the reason anew.
func (e *Environment) Block(b workflow.Blocked, now time.Time) error {
	if e.Over() {
		return e.refuse("there is no work to block")
	}
	suggestion, known := suggestions[b.Reason]
	if !known {
		return fmt.Errorf("reason %q: want one of %s: %w", b.Reason, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(BlockedReasons)), ", "), "[]"), ErrInvalidEntry)
	}
	if strings.TrimSpace(b.Description) == "" {
		return fmt.Errorf("description is empty: say what stands in the way: %w", ErrInvalidEntry)
	}
	if b.SuggestedAction == "" {
		b.SuggestedAction = suggestion
	}
	b.BlockedAt = second(now)
	e.Status, e.Blocked = EnvironmentBlocked, &b
	return nil
}

// Unblock takes the block away and returns to the status below it; false if there was none.
func (e *Environment) Unblock() bool {
	if e.Status != EnvironmentBlocked {
		return false
	}
	e.Status, e.Blocked = e.unblocked(), nil
	return true
}

func (e *Environment) unblocked() EnvironmentStatus {
	if e.PRNumber != nil {
		return EnvironmentPRCreated
	}
	return EnvironmentActive
}
