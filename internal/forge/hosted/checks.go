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
	// maxLog is how many bytes of a failed job's log are read.
	maxLog = 16 << 10
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

// judge weighs verdicts: those that are required, or all if none are.
func judge(required []string, verdicts []forge.Verdict) (j judgement) {
	weigh := func(v forge.Verdict) {
		switch v.State {
		case forge.Passed:
		case forge.Failed:
			j.Failed = append(j.Failed, v)
		default:
			j.Missing = append(j.Missing, v.Name)
		}
	}
	if len(required) == 0 {
		j.Silent = len(verdicts) == 0
		for _, v := range verdicts {
			weigh(v)
		}
		return j
	}
	for _, name := range required {
		found := false
		for _, v := range verdicts {
			if matches(name, v.Name) {
				found = true
				weigh(v)
			}
		}
		if !found {
			j.Missing = append(j.Missing, name)
		}
	}
	return j
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
	pr, p, err := f.look(ctx, number)
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
	failed, err := f.reported(ctx, pr, check.Head)
	if err != nil || failed == nil {
		return check, err
	}
	return f.failed(ctx, check, *failed), nil
}

// knowsHead returns ErrHeadMoved if the pull request has another head on the server, after the time that a push may take to show there.
func (f *Forge) knowsHead(ctx context.Context, pr forge.PullRequest, head string) error {
	p, err := f.ours(ctx, pr.Number, pr.Branch)
	if err != nil || p.Head == head {
		return err
	}
	now := f.Clock()
	if now.Sub(pr.UpdatedAt) < grace {
		return &forge.PendingError{For: []string{"the pushed commit to show"}, LookAgain: now.Add(lookAfter(0))}
	}
	return fmt.Errorf("the forge has %q at %s, not at %s: %w", pr.Branch, redact.Line(p.Head, maxTitle), head, forge.ErrHeadMoved)
}

// reported returns the server's verdict that keeps the head from being merged; nil if there is none.
func (f *Forge) reported(ctx context.Context, pr forge.PullRequest, head string) (*forge.Verdict, error) {
	asked, err := f.Server.Required(ctx, pr.Base)
	if err != nil {
		return nil, fmt.Errorf("ask the forge for the protection of %q: %w", pr.Base, err)
	}
	verdicts, err := f.Server.Verdicts(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("ask the forge for the checks of %s: %w", head, err)
	}
	now := f.Clock()
	age := now.Sub(pr.UpdatedAt)
	switch j := judge(f.ofOthers(asked.Verdicts, verdicts)); {
	case len(j.Failed) > 0:
		return &j.Failed[0], nil
	case len(j.Missing) > 0:
		return nil, &forge.PendingError{For: names(j.Missing), LookAgain: now.Add(lookAfter(age))}
	case j.Silent && f.WithoutCI:
		return nil, nil
	case j.Silent:
		return nil, fmt.Errorf("the tests passed here, and on the forge, of %s, %w", head, forge.ErrNoChecks)
	}
	return nil, nil
}

// lookAfter returns how long to wait before the next look: the longer it has taken so far, the longer it may still take.
func lookAfter(age time.Duration) time.Duration {
	return min(max(age/4, 10*time.Second), 5*time.Minute)
}

// failed turns a passed check into a failed one that names the server's verdict.
func (f *Forge) failed(ctx context.Context, check forge.Check, v forge.Verdict) forge.Check {
	check.State, check.Server = forge.CheckFailed, redact.Line(v.Name, maxTitle)
	check.At, check.Known, check.LogPath, check.Command, check.DurationMS = v.At, nil, "", "", 0
	check.Summary = fmt.Sprintf("the forge's check %q failed", check.Server)
	for _, more := range []string{v.Summary, v.Page} {
		if more = redact.Line(more, 2*maxTitle); more != "" {
			check.Summary += ": " + more
		}
	}
	logged, ok := f.Server.(forge.Logged)
	if !ok {
		return check
	}
	end, err := logged.Log(ctx, v, maxLog)
	if err != nil {
		if !errors.Is(err, forge.ErrNotFound) {
			f.Logger.WarnContext(ctx, "read the log of a failed check", "check", check.Server, "err", err)
		}
		return check
	}
	check.Log = redact.Clean(end)
	return check
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
