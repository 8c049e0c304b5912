package hosted

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

const (
	// grace is how long a server may take to know of a new commit.
	grace = 2 * time.Minute
	// maxLog is how many bytes of the log of a failed step are shown, and maxLogs those of all together.
	maxLog, maxLogs = 16 << 10, 48 << 10
	// soon is when to look for what the server is about to show.
	soon = 10 * time.Second
	// sameLook is how long what was read of a pull request serves the same look at it.
	sameLook = 5 * time.Second
	// rulesFor is how old the rules of a branch may be while a run waits. A merge reads them anew.
	rulesFor = 5 * time.Minute
	// maxNames is how many missing verdicts are named.
	maxNames = 10
)

// judgement is what the verdicts on a commit come to.
type judgement struct {
	// Failed is empty unless a verdict that counts failed.
	Failed []forge.Verdict
	// Missing are the names of those that are not there yet, or not finished.
	Missing []string
	// Silent: nothing was reported and nothing is required. That is not a passed check.
	Silent bool
}

// judge weighs the verdicts that count.
func judge(required []string, verdicts []forge.Verdict) (j judgement) {
	j.Silent = len(required) == 0 && len(verdicts) == 0
	for _, v := range counting(required, verdicts) {
		switch v.State {
		case forge.Passed:
		case forge.Failed:
			j.Failed = append(j.Failed, v)
		default:
			j.Missing = append(j.Missing, v.Name)
		}
	}
	for _, name := range required {
		if !slices.ContainsFunc(verdicts, func(v forge.Verdict) bool { return matches(name, v.Name) }) {
			j.Missing = append(j.Missing, name)
		}
	}
	return j
}

// counting returns the verdicts that count: those that are required, or all if none are.
func counting(required []string, verdicts []forge.Verdict) (those []forge.Verdict) {
	for _, v := range verdicts {
		if len(required) == 0 || slices.ContainsFunc(required, func(name string) bool { return matches(name, v.Name) }) {
			those = append(those, v)
		}
	}
	return those
}

// matches reports whether a verdict has a required name, in which * is any text.
func matches(required, name string) bool {
	if !strings.Contains(required, "*") {
		return required == name
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(required), `\*`, `.*`)
	matched, err := regexp.MatchString(`^(?s:`+pattern+`)$`, name)
	return err == nil && matched
}

// Checks tests the merge candidate here first: what fails here need not be waited for. Then it reads what the server says about exactly the
// head.
func (f *Forge) Checks(ctx context.Context, number int) (forge.Check, error) {
	pr, p, err := f.look(forge.Recent(ctx, sameLook), number)
	if err != nil {
		return forge.Check{}, fmt.Errorf("check pull request: %w", err)
	}
	if pr.State == forge.Closed || pr.State == forge.Open && p.State == forge.Closed {
		return forge.Check{}, fmt.Errorf("check pull request %d: %w", number, forge.ErrClosed)
	}
	if _, err := f.Git.Follow(ctx, pr.Base); err != nil {
		return forge.Check{}, err
	}
	check, err := f.Git.Checks(ctx, number)
	if err != nil || check.State != forge.CheckPassed || pr.State == forge.Merged || p.State == forge.Merged {
		return check, err
	}
	if err := f.knowsHead(ctx, pr, check.Head); err != nil {
		return forge.Check{}, fmt.Errorf("check pull request %d: %w", number, err)
	}
	return f.weighed(ctx, pr, check)
}

// Reported implements forge.Judged.
func (f *Forge) Reported(ctx context.Context, number int) (forge.Check, error) {
	pr, err := f.Git.PullRequest(ctx, number)
	if err != nil {
		return forge.Check{}, fmt.Errorf("look at the checks of a pull request: %w", err)
	}
	check, err := f.weighed(ctx, pr, forge.Check{Base: pr.Base, Head: pr.Head, State: forge.CheckPassed})
	if errors.Is(err, forge.ErrPending) || errors.Is(err, forge.ErrNoChecks) {
		err = nil
	}
	return check, err
}

// weighed turns a check that passed into a failed one if one of the server's failed on its head.
func (f *Forge) weighed(ctx context.Context, pr forge.PullRequest, check forge.Check) (forge.Check, error) {
	failed, err := f.reported(ctx, pr, check.Head, rulesFor)
	if err != nil || len(failed) == 0 {
		return check, err
	}
	runs, err := f.runs(ctx, check.Head, failed)
	if err != nil {
		return forge.Check{}, err
	}
	for _, run := range runs {
		if run.Busy {
			return check, &forge.PendingError{Kind: forge.AwaitedChecks, For: []string{"the end of what runs beside " + strings.Join(names(run.Failed), ", ")}, LookAgain: f.lookAgain(f.Clock().Sub(pr.UpdatedAt))}
		}
		check.Rerunnable = check.Rerunnable || run.Attempts < 2
	}
	return f.failed(check, failed), nil
}

// knowsHead returns ErrHeadMoved if the pull request has another head on the server, after the time that a push may take to show there.
func (f *Forge) knowsHead(ctx context.Context, pr forge.PullRequest, head string) error {
	p, err := f.ours(forge.Recent(ctx, sameLook), pr)
	if err != nil || p.Head == head {
		return err
	}
	if f.Clock().Sub(pr.UpdatedAt) < grace {
		return &forge.PendingError{For: []string{"the pushed commit to show"}, LookAgain: f.Clock().Add(soon)}
	}
	return fmt.Errorf("the forge has %q at %s, not at %s: %w", pr.Branch, redact.Line(p.Head, maxTitle), head, forge.ErrHeadMoved)
}

// required returns what the server's protection of a branch asks for.
func (f *Forge) required(ctx context.Context, base string) (forge.Requirements, error) {
	asked, err := f.Server.Required(ctx, base)
	if err != nil {
		return asked, fmt.Errorf("ask the forge for the protection of %q: %w", base, err)
	}
	return asked, nil
}

// reported returns the server's verdicts that keep the head from being merged. The rules of its base may be this old.
func (f *Forge) reported(ctx context.Context, pr forge.PullRequest, head string, rules time.Duration) ([]forge.Verdict, error) {
	required, verdicts, err := f.verdicts(ctx, pr.Base, head, rules)
	if err != nil {
		return nil, err
	}
	age := f.Clock().Sub(pr.UpdatedAt)
	switch j := judge(required, verdicts); {
	case len(j.Failed) > 0:
		return j.Failed, nil
	case len(j.Missing) > 0:
		return nil, &forge.PendingError{Kind: forge.AwaitedChecks, For: names(j.Missing), LookAgain: f.lookAgain(age)}
	case j.Silent && f.WithoutCI:
		return nil, nil
	case j.Silent:
		// A CI often waits until someone has looked at what comes from a fork. Whoever merges it sees that.
		if others, err := f.othersMerge(ctx, pr); err != nil || others {
			return nil, err
		}
		return nil, fmt.Errorf("the tests passed here, and on the forge, of %s, %w", head, forge.ErrNoChecks)
	}
	return nil, nil
}

// verdicts asks the server for what is required on a base and was reported about a head, by others than us.
func (f *Forge) verdicts(ctx context.Context, base, head string, rules time.Duration) (required []string, verdicts []forge.Verdict, err error) {
	asked, err := f.required(forge.Recent(ctx, rules), base)
	if err != nil {
		return nil, nil, err
	}
	verdicts, err = f.Server.Verdicts(ctx, head)
	if err != nil {
		return nil, nil, fmt.Errorf("ask the forge for the checks of %s: %w", head, err)
	}
	required, verdicts = f.ofOthers(asked.Verdicts, verdicts)
	return required, verdicts, nil
}

// lookAgain returns when to look next: the longer it has taken so far, the longer it may still take. If webhooks tell of checks, a look only makes up for
// one that was lost.
func (f *Forge) lookAgain(age time.Duration) time.Time {
	wait := min(max(age/4, soon), 5*time.Minute)
	if f.Told != nil && f.Told() {
		wait = min(max(age, time.Minute), 15*time.Minute)
	}
	return f.Clock().Add(wait)
}

// failed turns a passed check into a failed one that names the server's verdicts.
func (f *Forge) failed(check forge.Check, failed []forge.Verdict) forge.Check {
	check.State, check.Server = forge.CheckFailed, strings.Join(namesOf(failed), ", ")
	check.At, check.Known, check.LogPath, check.Command, check.DurationMS = failed[0].At, nil, "", "", 0
	var says []string
	for _, v := range failed[:min(len(failed), maxNames)] {
		said := fmt.Sprintf("the forge's check %q failed", redact.Line(v.Name, maxTitle))
		for _, more := range []string{v.Summary, v.Page} {
			if more = redact.Line(more, 2*maxTitle); more != "" {
				said += ": " + more
			}
		}
		says = append(says, said)
	}
	check.Summary, check.Log = strings.Join(says, "\n"), func(ctx context.Context) string { return f.logs(ctx, failed) }
	return check
}

// logs returns what the failed steps printed last, each below its name.
func (f *Forge) logs(ctx context.Context, failed []forge.Verdict) string {
	logged, ok := f.Server.(forge.Logged)
	if !ok {
		return ""
	}
	var all strings.Builder
	for _, v := range failed {
		if all.Len() >= maxLogs {
			break
		}
		name := redact.Line(v.Name, maxTitle)
		steps, err := logged.Log(ctx, v, maxLog)
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			f.Logger.WarnContext(ctx, "read the log of a failed check", "check", name, "err", err)
		}
		for _, step := range steps {
			title := fmt.Sprintf("The log of %q", name)
			if of := redact.Line(step.Step, maxTitle); of != "" {
				title += fmt.Sprintf(", step %q", of)
			}
			text := strings.Trim(redact.Clean(step.Text), "\n")
			switch {
			case strings.Contains(all.String(), text): // of a job, and of its pipeline
			case all.Len()+len(text) > maxLogs:
				all.WriteString(title + ", is left out: the others are long enough.\n\n")
			default:
				all.WriteString(title + ", ends with:\n" + text + "\n\n")
			}
		}
	}
	return strings.TrimRight(all.String(), "\n")
}

// namesOf returns a few names of verdicts for a message.
func namesOf(all []forge.Verdict) []string {
	var called []string
	for _, v := range all {
		called = append(called, v.Name)
	}
	return names(called)
}

// names returns a few names for a message.
func names(all []string) []string {
	var some []string
	for _, name := range all[:min(len(all), maxNames)] {
		some = append(some, redact.Line(name, maxTitle))
	}
	if more := len(all) - len(some); more > 0 {
		some = append(some, fmt.Sprintf("and %d more", more))
	}
	return slices.Compact(some)
}
