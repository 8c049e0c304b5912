package hosted

import (
	"context"
	"fmt"
	"slices"

	"signalbox/internal/forge"
)

// BranchCheck implements forge.Branches: what the server's CI says of the branch's newest commit there. It returns *forge.PendingError while CI is at
// it. The names that the branch's protection requires count, if any of them was reported: much of a CI runs for pull requests alone. Otherwise all do.
func (f *Forge) BranchCheck(ctx context.Context, branch string) (forge.Check, error) {
	tip, ahead, err := f.Git.Tip(ctx, branch)
	if err == nil && ahead {
		err = fmt.Errorf("it has commits here that the forge lacks: %w", forge.ErrNoChecks)
	}
	if err != nil {
		return forge.Check{}, fmt.Errorf("check branch %q: %w", branch, err)
	}
	asked, err := f.required(forge.Recent(ctx, rulesFor), branch)
	if err != nil {
		return forge.Check{}, err
	}
	verdicts, err := f.Server.Verdicts(ctx, tip)
	if err != nil {
		return forge.Check{}, fmt.Errorf("ask the forge for the checks of %s: %w", tip, err)
	}
	_, verdicts = f.ofOthers(nil, verdicts)
	isRequired := func(v forge.Verdict) bool {
		return slices.ContainsFunc(asked.Verdicts, func(name string) bool { return matches(name, v.Name) })
	}
	if slices.ContainsFunc(verdicts, isRequired) {
		verdicts = slices.DeleteFunc(verdicts, func(v forge.Verdict) bool { return !isRequired(v) })
	}
	check := forge.Check{Name: "CI", Base: tip, Head: tip, State: forge.CheckPassed}
	for _, v := range verdicts {
		if v.At.After(check.At) {
			check.At = v.At
		}
	}
	switch j := judge(nil, verdicts); {
	case len(j.Failed) > 0:
		return f.failed(check, j.Failed), nil
	case len(j.Missing) > 0:
		return check, &forge.PendingError{For: names(j.Missing), LookAgain: f.lookAgain(0)}
	case j.Silent && f.WithoutCI:
		return f.Git.BranchCheck(ctx, branch)
	case j.Silent:
		return check, fmt.Errorf("on the forge, of %s, %w", tip, forge.ErrNoChecks)
	}
	return check, nil
}
