package github

import (
	"strings"

	"signalbox/internal/forge"
)

// botSuffix ends the name of an application's account.
const botSuffix = "[bot]"

// maxDescription is how long a commit status may be.
const maxDescription = 140

// checkMark tells our check runs from those of others with the same name.
const checkMark = "signalbox"

func repository(r repositoryAnswer) forge.Repository {
	found := forge.Repository{Path: r.FullName, Page: r.HTMLURL, DefaultBranch: r.DefaultBranch, SeesPushes: true}
	found.MayPush = r.Permissions.Push && !r.Archived
	found.MayMerge = found.MayPush
	if r.Parent != nil {
		found.Parent = r.Parent.FullName
	}
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

func issue(i *issueAnswer) forge.Issue {
	found := forge.Issue{
		Number: i.Number, Title: i.Title, Body: i.Body, Author: i.User.Login,
		Closed: i.State == "closed", Page: i.HTMLURL, UpdatedAt: i.UpdatedAt,
	}
	for _, l := range i.Labels {
		found.Labels = append(found.Labels, l.Name)
	}
	return found
}

// remark counts one that an application wrote in a person's name as a program's.
func (c commentAnswer) remark(on forge.Subject) forge.Remark {
	return forge.Remark{
		ID: c.ID, On: on, Author: c.User.Login, Body: c.Body, Page: c.HTMLURL,
		ByBot:  isBot(c.User.Login, c.User.Type) || c.Via != nil,
		Edited: c.UpdatedAt.After(c.CreatedAt), CreatedAt: c.CreatedAt, ChangedAt: c.UpdatedAt,
	}
}

func isBot(login, kind string) bool { return kind == "Bot" || strings.HasSuffix(login, botSuffix) }

func proposal(p pullAnswer) forge.Proposal {
	found := forge.Proposal{
		Number: p.Number, Title: p.Title, Body: p.Body, Branch: p.Head.Ref, Base: p.Base.Ref,
		Head: p.Head.SHA, Draft: p.Draft, State: forge.Open, Page: p.HTMLURL,
	}
	switch {
	case p.Head.Repo == nil:
		found.Fork = forge.ForkGone
	case p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID:
		found.Fork = p.Head.Repo.FullName
	}
	switch {
	case p.MergedAt != nil:
		found.State, found.MergedAt, found.MergeCommit = forge.Merged, p.MergedAt, p.MergeCommitSHA // of an open one it is a trial's
	case p.State == "closed":
		found.State = forge.Closed
	}
	return found
}

func statusVerdict(s *statusAnswer) forge.Verdict {
	v := forge.Verdict{Name: s.Context, State: forge.Failed, Summary: s.Description, Page: s.TargetURL, At: s.UpdatedAt}
	switch s.State {
	case "success":
		v.State = forge.Passed
	case "pending":
		v.State = forge.Pending
	}
	return v
}

func checkVerdict(r checkAnswer) forge.Verdict {
	v := forge.Verdict{Name: r.Name, State: forge.Failed, Summary: r.Output.Title, Page: r.DetailsURL, At: r.CompletedAt}
	if v.Page == "" {
		v.Page = r.HTMLURL
	}
	if v.At.IsZero() {
		v.At = r.StartedAt
	}
	switch r.Conclusion {
	case "success", "neutral", "skipped":
		v.State = forge.Passed
	}
	if r.Status != "completed" {
		v.State = forge.Pending
	}
	return v
}

// belongs reports whether GitHub counts an author among those of the repository. Not all of them may write.
func belongs(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}

func review(r reviewAnswer) (forge.Review, bool) {
	said := forge.Review{ // one that was dismissed says nothing any more
		Author: r.User.Login, Commit: r.CommitID, State: forge.Commented, Body: r.Body, Page: r.HTMLURL,
		At: r.SubmittedAt, Member: belongs(r.Association),
	}
	switch r.State {
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
func status(v forge.Verdict) map[string]string {
	states := map[forge.VerdictState]string{forge.Passed: "success", forge.Failed: "failure", forge.Pending: "pending"}
	made := map[string]string{"state": states[v.State], "context": v.Name, "description": shortened(v.Summary)}
	if v.Page != "" {
		made["target_url"] = v.Page
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

// check is the verdict as a check run.
func check(v forge.Verdict) map[string]any {
	made := map[string]any{"name": v.Name, "external_id": checkMark, "status": "in_progress"}
	if v.Page != "" {
		made["details_url"] = v.Page
	}
	if v.Summary != "" {
		made["output"] = map[string]string{"title": v.Summary, "summary": v.Summary}
	}
	if v.State != forge.Pending {
		made["status"], made["conclusion"] = "completed", map[forge.VerdictState]string{forge.Passed: "success", forge.Failed: "failure"}[v.State]
		if !v.At.IsZero() {
			made["completed_at"] = v.At
		}
	}
	return made
}
