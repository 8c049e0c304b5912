package hosted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// Bounds of what is read of a pull request's reviews.
const (
	maxObjections = 50
	maxObjection  = 4_000 // characters
)

// safetyNet is how long a lost webhook may go unnoticed while people are waited for.
const safetyNet = time.Hour

var _ forge.Judged = (*Forge)(nil)

// Opinions implements forge.Judged. A server without reviews or threads has none.
func (f *Forge) Opinions(ctx context.Context, number int) (opinions forge.Opinions, err error) {
	pr, p, err := f.look(ctx, number)
	if err != nil {
		return opinions, err
	}
	if opinions.State = p.State; pr.State != forge.Open {
		opinions.State = pr.State
	}
	if opinions.State != forge.Open {
		return opinions, nil
	}
	if f.ToldOfPeople != nil && f.ToldOfPeople() {
		opinions.LookAgain = f.Clock().Add(safetyNet)
	}
	heard := &hearing{server: f.Server, me: f.account, mayWrite: map[string]bool{}, fromFork: pr.Fork != ""}
	if threaded, ok := f.Server.(forge.Threaded); ok {
		threads, err := threaded.Threads(ctx, number)
		if err != nil {
			return opinions, fmt.Errorf("read the threads of pull request %d: %w", number, err)
		}
		if opinions.Objections, err = heard.threads(ctx, threads); err != nil {
			return opinions, err
		}
	}
	reviewed, ok := f.Server.(forge.Reviewed)
	if !ok {
		return opinions, nil
	}
	reviews, err := reviewed.Reviews(ctx, number)
	if err != nil {
		return opinions, fmt.Errorf("read the reviews of pull request %d: %w", number, err)
	}
	objections, approvers, critics, err := heard.reviews(ctx, reviews, p.Head)
	if err != nil {
		return opinions, err
	}
	opinions.Objections = append(opinions.Objections, objections...)
	opinions.Objections = opinions.Objections[:min(len(opinions.Objections), maxObjections)]
	asked, err := f.required(forge.Recent(ctx, rulesFor), pr.Base)
	if err != nil {
		return opinions, err
	}
	others, err := f.othersMerge(ctx, pr)
	switch {
	case others:
		opinions.Awaits = &forge.Awaited{Kind: forge.AwaitedMerge, Required: true}
	case len(critics) > 0:
		opinions.Awaits = &forge.Awaited{Kind: forge.AwaitedReview, Of: critics, Required: true}
	case len(approvers) < max(asked.Approvals, 1):
		opinions.Awaits = &forge.Awaited{Kind: forge.AwaitedApproval, Of: f.asked(ctx, pr), Missing: max(asked.Approvals, 1) - len(approvers), Required: asked.Approvals > 0}
	}
	if opinions.Awaits == nil || !opinions.Awaits.Required {
		opinions.ApprovedBy = approvers
	}
	return opinions, err
}

// asked are the people and teams who know that they should look: those of the configuration, and owners of the changed files.
func (f *Forge) asked(ctx context.Context, pr forge.PullRequest) []string {
	all := slices.Concat(f.Reviewers, f.owners(ctx, pr))
	for i, name := range all {
		all[i] = strings.TrimPrefix(name, "@")
	}
	slices.Sort(all)
	return names(slices.Compact(all))
}

// hearing says whose words count: those of people who may write to the repository now, and of applications that were let into it. On a public
// repository everyone else may write comments too.
type hearing struct {
	server   forge.Server
	me       func(context.Context) (forge.Account, error)
	mayWrite map[string]bool
	// fromFork: the account may not be let to ask who may write. Then those count whom the server names as members: they only make the agent work,
	// as others merge.
	fromFork bool
}

func (h *hearing) counts(ctx context.Context, author string, member bool) (bool, error) {
	permitted, ok := h.server.(forge.Permitted)
	if !ok || author == "" {
		return false, nil
	}
	if may, known := h.mayWrite[author]; known {
		return may, nil
	}
	may, err := permitted.MayWrite(ctx, author)
	if failed := (*forge.Failure)(nil); h.fromFork && errors.As(err, &failed) && failed.Kind == forge.Forbidden {
		return member, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask whether %q may write: %w", redact.Line(author, maxTitle), err)
	}
	h.mayWrite[author] = may
	return may, nil
}

// threads returns the discussions that wait for an answer: nobody resolved them, and the last word that counts is not ours.
func (h *hearing) threads(ctx context.Context, threads []forge.Thread) (objections []forge.Objection, err error) {
	if len(threads) == 0 {
		return nil, nil
	}
	me, err := h.me(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		var said []string
		var last forge.Remark
		for _, r := range t.Remarks {
			if ours := r.Author == me.Name && anyMark.Regexp().MatchString(r.Body); ours {
				said = append(said, "(answered)")
				last = forge.Remark{}
				continue
			}
			counts := r.ByBot
			if !counts {
				if counts, err = h.counts(ctx, r.Author, r.Member); err != nil {
					return nil, err
				}
			}
			if counts {
				said = append(said, words(r.Author, r.Body))
				last = r
			}
		}
		if t.Resolved || last.ID == 0 {
			continue
		}
		objections = append(objections, forge.Objection{ID: t.ID + "/" + strconv.FormatInt(last.ID, 10), Thread: t.ID, By: redact.Line(last.Author, maxTitle),
			Path: redact.Line(t.Path, 2*maxTitle), Line: t.Line, Text: redact.Cut(strings.Join(said, "\n"), maxObjection)})
	}
	return objections, nil
}

// reviews returns the reviews that want changes and say which, who approves exactly head, and who wants changes of it.
func (h *hearing) reviews(ctx context.Context, reviews []forge.Review, head string) (objections []forge.Objection, approvers, critics []string, err error) {
	if len(reviews) == 0 {
		return nil, nil, nil, nil
	}
	me, err := h.me(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, r := range reviews {
		if r.State == forge.Commented || r.Author == me.Name {
			continue
		}
		counts, err := h.counts(ctx, r.Author, r.Member)
		if err != nil {
			return nil, nil, nil, err
		}
		switch {
		case !counts:
		case r.State == forge.Approved && r.Commit == head:
			approvers = append(approvers, redact.Line(r.Author, maxTitle))
		case r.State == forge.ChangesWanted:
			if r.Commit == head { // an earlier one was taken up
				critics = append(critics, redact.Line(r.Author, maxTitle))
			}
			if strings.TrimSpace(r.Body) != "" {
				objections = append(objections, forge.Objection{ID: fmt.Sprintf("review/%s/%s/%d", r.Author, r.Commit, r.At.Unix()), By: redact.Line(r.Author, maxTitle),
					Text: redact.Cut(words(r.Author, r.Body), maxObjection)})
			}
		}
	}
	slices.Sort(approvers)
	return objections, approvers, critics, nil
}

func words(author, body string) string {
	return redact.Line(author, maxTitle) + ": " + strings.TrimSpace(redact.Clean(body))
}

// Reply implements forge.Judged.
func (f *Forge) Reply(ctx context.Context, number int, thread, key, body string) error {
	threaded, reads := f.Server.(forge.Threaded)
	answering, answers := f.Server.(forge.Answering)
	if !reads || !answers {
		return nil
	}
	me, err := f.account(ctx)
	if err != nil {
		return err
	}
	threads, err := threaded.Threads(ctx, number)
	if err != nil {
		return fmt.Errorf("read the threads of pull request %d: %w", number, err)
	}
	mark := mark("reply", key)
	for _, t := range threads {
		if t.ID != thread {
			continue
		}
		text := marked(mark, body)
		if slices.ContainsFunc(t.Remarks, func(r forge.Remark) bool { return r.Author == me.Name && strings.HasPrefix(r.Body, mark) }) {
			text = "" // it was written before, and perhaps not resolved
		}
		if text == "" && t.Resolved {
			return nil
		}
		if err := answering.Answer(ctx, number, t, text, true); err != nil {
			return fmt.Errorf("answer in a thread of pull request %d: %w", number, err)
		}
	}
	return nil
}
