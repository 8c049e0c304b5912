package github

import (
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

// botSuffix ends the name of an application's account.
const botSuffix = "[bot]"

// maxDescription is how long a commit status may be.
const maxDescription = 140

// checkMark tells our check runs from those of others with the same name.
const checkMark = "signalbox"

func repository(r *github.Repository) forge.Repository {
	found := forge.Repository{Path: r.GetFullName(), Page: r.GetHTMLURL(), DefaultBranch: r.GetDefaultBranch(), SeesPushes: true}
	found.MayPush = r.GetPermissions().GetPush() && !r.GetArchived()
	found.MayMerge = found.MayPush
	for _, way := range []struct {
		name    string
		allowed *bool
	}{{"merge", r.AllowMergeCommit}, {"squash", r.AllowSquashMerge}, {"rebase", r.AllowRebaseMerge}} {
		if way.allowed == nil || *way.allowed { // who may not merge isn't told
			found.Methods = append(found.Methods, way.name)
		}
	}
	return found
}

func issue(i *github.Issue) forge.Issue {
	found := forge.Issue{
		Number: i.GetNumber(), Title: i.GetTitle(), Body: i.GetBody(), Author: i.GetUser().GetLogin(),
		Closed: i.GetState() == "closed", Page: i.GetHTMLURL(), UpdatedAt: i.GetUpdatedAt().Time,
	}
	for _, l := range i.Labels {
		found.Labels = append(found.Labels, l.GetName())
	}
	return found
}

// remark counts one that an application wrote in a person's name as a program's.
func (c comment) remark() forge.Remark {
	return forge.Remark{
		ID: c.GetID(), Author: c.GetUser().GetLogin(), Body: c.GetBody(), Page: c.GetHTMLURL(),
		ByBot:  isBot(c.GetUser().GetLogin(), c.GetUser().GetType()) || c.Via != nil,
		Edited: c.GetUpdatedAt().After(c.GetCreatedAt().Time), CreatedAt: c.GetCreatedAt().Time,
	}
}

func isBot(login, kind string) bool { return kind == "Bot" || strings.HasSuffix(login, botSuffix) }

func proposal(p *github.PullRequest) forge.Proposal {
	found := forge.Proposal{
		Number: p.GetNumber(), Title: p.GetTitle(), Body: p.GetBody(), Branch: p.GetHead().GetRef(), Base: p.GetBase().GetRef(),
		Head: p.GetHead().GetSHA(), Draft: p.GetDraft(), State: forge.Open, Page: p.GetHTMLURL(),
	}
	switch {
	case p.MergedAt != nil:
		at := p.GetMergedAt().Time
		found.State, found.MergedAt, found.MergeCommit = forge.Merged, &at, p.GetMergeCommitSHA() // of an open one it is a trial's
	case p.GetState() == "closed":
		found.State = forge.Closed
	}
	return found
}

func statusVerdict(s *github.RepoStatus) forge.Verdict {
	v := forge.Verdict{Name: s.GetContext(), State: forge.Failed, Summary: s.GetDescription(), Page: s.GetTargetURL(), At: s.GetUpdatedAt().Time}
	switch s.GetState() {
	case "success":
		v.State = forge.Passed
	case "pending":
		v.State = forge.Pending
	}
	return v
}

func checkVerdict(r *github.CheckRun) forge.Verdict {
	v := forge.Verdict{Name: r.GetName(), State: forge.Failed, Summary: r.GetOutput().GetTitle(), Page: r.GetDetailsURL(), At: r.GetCompletedAt().Time}
	if v.Page == "" {
		v.Page = r.GetHTMLURL()
	}
	if v.At.IsZero() {
		v.At = r.GetStartedAt().Time
	}
	switch r.GetConclusion() {
	case "success", "neutral", "skipped":
		v.State = forge.Passed
	}
	if r.GetStatus() != "completed" {
		v.State = forge.Pending
	}
	return v
}

func review(r *github.PullRequestReview) (forge.Review, bool) {
	said := forge.Review{ // one that was dismissed says nothing any more
		Author: r.GetUser().GetLogin(), Commit: r.GetCommitID(), State: forge.Commented, Body: r.GetBody(), Page: r.GetHTMLURL(),
		At: r.GetSubmittedAt().Time,
	}
	switch r.GetState() {
	case "APPROVED":
		said.State = forge.Approved
	case "CHANGES_REQUESTED":
		said.State = forge.ChangesWanted
	case "PENDING": // a draft of the account itself
		return said, false
	}
	return said, true
}

// status is the verdict as a commit status.
func status(v forge.Verdict) github.RepoStatus {
	states := map[forge.VerdictState]string{forge.Passed: "success", forge.Failed: "failure", forge.Pending: "pending"}
	made := github.RepoStatus{State: github.Ptr(states[v.State]), Context: &v.Name, Description: github.Ptr(shortened(v.Summary))}
	if v.Page != "" {
		made.TargetURL = &v.Page
	}
	return made
}

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= maxDescription {
		return text
	}
	return string(runes[:maxDescription-1]) + "…"
}

// check is the verdict as a new check run, checkUpdate as a change of one.
func check(commit string, v forge.Verdict) github.CreateCheckRunOptions {
	u := checkUpdate(v)
	return github.CreateCheckRunOptions{
		Name: v.Name, HeadSHA: commit, ExternalID: u.ExternalID, DetailsURL: u.DetailsURL, Status: u.Status,
		Conclusion: u.Conclusion, CompletedAt: u.CompletedAt, Output: u.Output,
	}
}

func checkUpdate(v forge.Verdict) github.UpdateCheckRunOptions {
	u := github.UpdateCheckRunOptions{Name: v.Name, ExternalID: github.Ptr(checkMark), Status: github.Ptr("in_progress")}
	if v.Page != "" {
		u.DetailsURL = &v.Page
	}
	if v.Summary != "" {
		u.Output = &github.CheckRunOutput{Title: &v.Summary, Summary: &v.Summary}
	}
	if v.State != forge.Pending {
		conclusion := map[forge.VerdictState]string{forge.Passed: "success", forge.Failed: "failure"}[v.State]
		u.Status, u.Conclusion = github.Ptr("completed"), &conclusion
		u.CompletedAt = timestamp(v.At)
	}
	return u
}

func timestamp(at time.Time) *github.Timestamp {
	if at.IsZero() {
		return nil
	}
	return &github.Timestamp{Time: at}
}
