package heal

import (
	"fmt"

	"signalbox/internal/cli/command"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/redact"
)

// printReport says what a pass came to.
func printReport(a *command.Invocation, r *heal.Report) {
	a.Print("%s\n", a.Paint(passColors[r.Result], reportWords(r)))
	for _, u := range r.Health.Loop.Unseen {
		a.Print("  unknown: %s: %s\n", redact.Line(u.Check, 40), redact.Joined(u.Why, 200))
	}
	if len(r.Health.Loop.Unseen) > 0 {
		a.Print("  %s\n", unseenAdvice)
	}
	for _, next := range nextWords(r) {
		a.Print("  %s\n", next)
	}
	printCriticalAdvice(a, r.Health)
}

// unseenAdvice is what a person does about checks that could not be looked at.
const unseenAdvice = `what is missing here: signalbox doctor; once it's fixed: signalbox heal`

func reportWords(r *heal.Report) string {
	switch r.Result {
	case health.PassHealthy:
		return "healthy"
	case health.PassUnknown:
		return "unknown: nothing failed, but nothing shows that all is well"
	case health.PassRepaired:
		return "repaired; the next pass verifies it"
	case health.PassWaiting:
		return "a repair waits"
	case health.PassFailed:
		return "a repair failed; the next may begin at " + moment(r.Health.CooldownUntil)
	case health.PassCooldown:
		return "cooldown: nothing is done until " + moment(r.Health.CooldownUntil)
	}
	return fmt.Sprintf("critical: %s; %d of %d passes since found nothing wrong", r.Health.FailedInARow(),
		r.Health.Loop.HealthyPasses, health.HealthyPasses)
}

// nextWords are what a person types after a pass that did not end well. A critical state has its own.
func nextWords(r *heal.Report) (next []string) {
	if r.Pass != nil {
		for _, repair := range r.Pass.Repairs {
			if repair.Request != "" && (repair.Outcome == health.RepairFailed || repair.Outcome == health.RepairWaiting) {
				next = append(next, fmt.Sprintf(`where it stopped, and why: signalbox status %s`, redact.Line(repair.Request, 40)))
			}
		}
	}
	switch r.Result {
	case health.PassFailed:
		next = append(next, `once the cooldown is over: signalbox heal`)
	case health.PassCooldown:
		next = append(next, `what was tried: signalbox heal log`)
	}
	return next
}
