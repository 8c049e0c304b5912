package hosted

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// OpenPullRequest pushes the branch, then opens the pull request or finds the one that has the branch, then records it here. Each step finds
// what an earlier try did.
func (f *Forge) OpenPullRequest(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	opened, err := f.open(ctx, pr)
	if err != nil {
		return forge.PullRequest{}, fmt.Errorf("open pull request: %w", err)
	}
	return opened, nil
}

func (f *Forge) open(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	if pr.Unpublished {
		return pr, errors.New("the run was started without pushing, and a pull request on a forge needs a pushed branch")
	}
	fork, err := f.source(ctx, pr)
	if err != nil {
		return pr, err
	}
	pr.Fork = fork
	if pr, err = f.Git.Publish(ctx, pr); err != nil {
		return pr, err
	}
	mark, about, closes := mark("run", pr.Key), "", ""
	if number, unnumbered := strconv.Atoi(pr.Request); unnumbered == nil {
		issue, err := f.Server.Issue(ctx, number)
		if err == nil {
			about = fmt.Sprintf("For [issue %d: %s](%s).\n\n", number, linkText(issue.Title), issue.Page)
			if pr.Fork != "" { // who merges it may not be us, and who merges it is the only one who may close the issue
				closes = fmt.Sprintf("Closes #%d.\n\n", number)
			}
		} else if !errors.Is(err, forge.ErrNotFound) {
			return pr, fmt.Errorf("read issue %d: %w", number, err)
		}
	}
	body := strings.Replace(marked(mark, about+f.ownersOf(ctx, pr)+pr.Body), mark+"\n", mark+"\n"+closes, 1)
	wanted := forge.Proposal{Number: pr.Number, Title: heading(pr.Title), Body: body, Branch: pr.Branch, Fork: pr.Fork, Base: pr.Base, Head: pr.Head,
		Draft: pr.Draft}
	p, err := f.proposal(ctx, mark, wanted, pr)
	if err != nil {
		return pr, err
	}
	ready := p.Draft && !pr.Draft
	if p.State == forge.Open && (p.Title != wanted.Title || p.Body != wanted.Body || ready) {
		p.Title, p.Body, p.Draft = wanted.Title, wanted.Body, p.Draft && !ready
		if err := f.Server.EditProposal(ctx, p); err != nil {
			return pr, fmt.Errorf("edit %d: %w", p.Number, err)
		}
	}
	pr.Number, pr.URL = p.Number, p.Page
	if pr, err = f.Git.OpenPullRequest(ctx, pr); err == nil && pr.State == forge.Open && p.State == forge.Closed {
		err = fmt.Errorf("pull request %d: %w", p.Number, forge.ErrClosed)
	}
	if err == nil && p.State == forge.Open && !p.Draft {
		err = f.askReviewers(ctx, p.Number)
	}
	return pr, err
}

// Describe implements forge.Judged. What surrounds our text stays, and a text that someone else edited away is not brought back.
func (f *Forge) Describe(ctx context.Context, number int, body string) error {
	pr, err := f.Git.PullRequest(ctx, number)
	if err != nil || pr.State != forge.Open || pr.Body == body {
		return err
	}
	p, err := f.ours(forge.Recent(ctx, sameLook), pr)
	if err != nil {
		return fmt.Errorf("describe pull request %d: %w", number, err)
	}
	was, is := strings.TrimSpace(forge.Defused(pr.Body)), strings.TrimSpace(forge.Defused(body))
	if text := strings.Replace(p.Body, was, is, 1); p.State == forge.Open && text != p.Body && !strings.Contains(p.Body, is) && len(text) <= maxBody {
		p.Body = text
		if err := f.unlessRefused(ctx, "describe the pull request", f.Server.EditProposal(ctx, p)); err != nil {
			return fmt.Errorf("describe pull request %d: %w", number, err)
		}
	}
	return f.Git.Describe(ctx, number, body)
}

// linkText is a stranger's text as it can stand in a Markdown link.
func linkText(text string) string {
	return strings.NewReplacer("[", "(", "]", ")", "\\", "", "`", "'", "<", "(").Replace(redact.Line(text, maxTitle))
}

// proposal returns the server's pull request with the marker, and opens it if there is none.
func (f *Forge) proposal(ctx context.Context, mark string, wanted forge.Proposal, pr forge.PullRequest) (forge.Proposal, error) {
	if wanted.Number != 0 {
		return f.ours(ctx, pr)
	}
	p, err := f.Server.ProposalOf(ctx, wanted.Fork, wanted.Branch)
	if err == nil && p.State != forge.Open && !strings.HasPrefix(p.Body, mark) { // an earlier run had the branch
		err = forge.ErrNotFound
	}
	if errors.Is(err, forge.ErrNotFound) {
		p, err = f.Server.Propose(ctx, wanted)
		if errors.Is(err, forge.ErrExists) {
			p, err = f.Server.ProposalOf(ctx, wanted.Fork, wanted.Branch)
		}
	}
	if err == nil && !strings.HasPrefix(p.Body, mark) && anyMark.Regexp().MatchString(p.Body) {
		err = fmt.Errorf("branch %q has pull request %d of another run", wanted.Branch, p.Number)
	}
	if err == nil && p.Base != wanted.Base {
		err = fmt.Errorf("pull request %d is for %q, not %q", p.Number, p.Base, wanted.Base)
	}
	return p, err
}

// ours returns a pull request that is recorded here, if the server has the same under this number: the project may have got another server.
func (f *Forge) ours(ctx context.Context, pr forge.PullRequest) (forge.Proposal, error) {
	p, err := f.Server.Proposal(ctx, pr.Number)
	if err != nil {
		return p, err
	}
	sameFork := strings.EqualFold(p.Fork, pr.Fork) || p.Fork == forge.ForkGone && pr.Fork != ""
	if p.Branch != pr.Branch || !sameFork {
		from := strings.TrimPrefix(redact.Line(p.Fork+":"+p.Branch, 2*maxTitle), ":")
		return p, fmt.Errorf("pull request %d is from %q, not from %q: %w", pr.Number, from, strings.TrimPrefix(pr.Fork+":"+pr.Branch, ":"), forge.ErrNotFound)
	}
	return p, nil
}

// PullRequest returns the record of a pull request, with the end that the server says it has.
func (f *Forge) PullRequest(ctx context.Context, number int) (forge.PullRequest, error) {
	pr, p, err := f.look(ctx, number)
	if err == nil && pr.State == forge.Open && p.State != forge.Open {
		pr.State, pr.MergeCommit, pr.MergedAt = p.State, p.MergeCommit, p.MergedAt
	}
	return pr, err
}

// look returns a pull request as it is recorded here and as the server has it.
func (f *Forge) look(ctx context.Context, number int) (forge.PullRequest, forge.Proposal, error) {
	pr, err := f.Git.PullRequest(ctx, number)
	if err != nil {
		return pr, forge.Proposal{}, err
	}
	p, err := f.ours(ctx, pr)
	return pr, p, err
}

// PullRequestOf returns the newest pull request of a branch that is recorded here, or ErrNotFound.
func (f *Forge) PullRequestOf(ctx context.Context, branch string) (forge.PullRequest, error) {
	return f.Git.PullRequestOf(ctx, branch)
}

// ClosePullRequest closes it on the server first: until that is done, the record says that it is open.
func (f *Forge) ClosePullRequest(ctx context.Context, number int) error {
	pr, p, err := f.look(ctx, number)
	if err != nil {
		return fmt.Errorf("close pull request: %w", err)
	}
	if pr.State == forge.Merged || p.State == forge.Merged {
		return fmt.Errorf("close pull request %d: %w", number, forge.ErrMerged)
	}
	if p.State == forge.Open {
		if err := f.Server.CloseProposal(ctx, number); err != nil {
			return fmt.Errorf("close pull request %d: %w", number, err)
		}
	}
	if err := f.Git.ClosePullRequest(ctx, number); err != nil {
		return err
	}
	return f.Git.Unpublish(ctx, number)
}
