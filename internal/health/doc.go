// Package health decides for the self-healing loop: what state.json says, which errors a pass found, whether an error is repaired, retried after a
// cooldown or handed to a person, and when the next pass is due.
//
// It is pure: it reads no clock and no file, and starts nothing. internal/heal performs the passes.
//
// # A pass
//
// The control layer asks Gate whether a pass is due. The repair layer then looks: it runs every check that is due. What it saw ends the pass in one
// of these ways:
//
//   - Well: no check failed, and every check with an open error had a verdict. The project is healthy.
//   - Unclear: no check failed, but too few had a verdict to call the project healthy.
//   - Found, then Attempt and Judge for each error, then Finish: errors were found and repaired, most severe first.
//
// A repair is a run like any other: it carries out a request that describes the error. The pass is part of state.json while it runs, so a process
// killed in the middle leaves what the next one needs: ResumeRepairs continues the repairs that were started before it looks for anything new.
//
// # An error
//
// An error is identified by its check and by what stays the same in its message (see ErrorID), so the same failure is the same error in each pass.
// It is open from the first pass that finds it. When its repair is merged, it is Fixed, but still open: the next look verifies the repair. If the
// look finds the error again, the repair failed after all. An error that disappears by itself stays open until HealthyPasses passes found nothing,
// because a check that passes once may fail again.
//
// # Failures
//
// A failed repair starts a cooldown of RepairCooldown. After CriticalFailures failed passes in a row the state is critical: looks continue, repairs
// don't, and a request tells a person. FactRearmed, reported by a person, allows repairs again; HealthyPasses passes without findings end the state
// too.
//
// # Facts
//
// A repair layer that is not Signalbox's own reports facts instead: Record changes state.json by the same rules, without passes and errors of its
// own. Both may write the same document.
package health
