package gitea

import (
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
)

// What is read of Gitea's answers. Forgejo's have the same fields.
type (
	user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
	}
	repository struct {
		FullName      string `json:"full_name"`
		HTMLURL       string `json:"html_url"`
		DefaultBranch string `json:"default_branch"`
		Archived      bool   `json:"archived"`
		Mirror        bool   `json:"mirror"`
		Owner         user   `json:"owner"`
		Parent        *struct {
			FullName string `json:"full_name"`
		} `json:"parent"`
		Permissions struct {
			Push bool `json:"push"`
		} `json:"permissions"`
		AllowMerge       bool   `json:"allow_merge_commits"`
		AllowRebase      bool   `json:"allow_rebase"`
		AllowRebaseMerge bool   `json:"allow_rebase_explicit"`
		AllowSquash      bool   `json:"allow_squash_merge"`
		AllowForward     bool   `json:"allow_fast_forward_only_merge"`
		AllowManual      bool   `json:"allow_manual_merge"`
		DetectsManual    bool   `json:"autodetect_manual_merge"`
		DefaultStyle     string `json:"default_merge_style"`
	}
	issue struct {
		Number    int     `json:"number"`
		Title     string  `json:"title"`
		Body      string  `json:"body"`
		User      user    `json:"user"`
		Labels    []label `json:"labels"`
		Milestone *struct {
			ID    int64  `json:"id"`
			Title string `json:"title"`
		} `json:"milestone"`
		State       string    `json:"state"`
		HTMLURL     string    `json:"html_url"`
		UpdatedAt   time.Time `json:"updated_at"`
		PullRequest *struct{} `json:"pull_request"`
		// Edits is how often the body was edited, since Gitea 1.26.
		Edits *int `json:"content_version"`
	}
	comment struct {
		ID        int64     `json:"id"`
		User      user      `json:"user"`
		Body      string    `json:"body"`
		HTMLURL   string    `json:"html_url"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	end struct {
		Ref    string `json:"ref"`
		Label  string `json:"label"` // the branch; ref is refs/pull/<n>/head if the branch is gone
		SHA    string `json:"sha"`
		RepoID int64  `json:"repo_id"`
		Repo   *struct {
			FullName string `json:"full_name"`
		} `json:"repo"`
	}
	pull struct {
		Number   int        `json:"number"`
		Title    string     `json:"title"`
		Body     string     `json:"body"`
		State    string     `json:"state"`
		Draft    bool       `json:"draft"`
		HTMLURL  string     `json:"html_url"`
		Merged   bool       `json:"merged"`
		MergedAt *time.Time `json:"merged_at"`
		Commit   *string    `json:"merge_commit_sha"`
		Base     end        `json:"base"`
		Head     end        `json:"head"`
	}
	branch struct {
		Protected      bool     `json:"protected"`
		Approvals      int      `json:"required_approvals"`
		ChecksStatuses bool     `json:"enable_status_check"`
		Contexts       []string `json:"status_check_contexts"`
		UserCanPush    bool     `json:"user_can_push"`
	}
	status struct {
		State       string    `json:"status"`
		Context     string    `json:"context"`
		Description string    `json:"description"`
		TargetURL   string    `json:"target_url"`
		UpdatedAt   time.Time `json:"updated_at"`
	}
	lineComment struct {
		ID               int64
		Path, Body       string
		Position         int
		OriginalPosition int    `json:"original_position"`
		HTMLURL          string `json:"html_url"`
		User             user
		Resolver         *user
		CreatedAt        time.Time `json:"created_at"`
		UpdatedAt        time.Time `json:"updated_at"`
	}
	review struct {
		ID          int64     `json:"id"`
		Comments    int       `json:"comments_count"`
		User        user      `json:"user"`
		State       string    `json:"state"`
		Body        string    `json:"body"`
		CommitID    string    `json:"commit_id"`
		Dismissed   bool      `json:"dismissed"`
		HTMLURL     string    `json:"html_url"`
		SubmittedAt time.Time `json:"submitted_at"`
	}
)

// bot: Gitea's own accounts, such as the one of Actions, have numbers below zero.
func (u user) bot() bool { return u.ID < 0 }

func (r repository) convert(page string) forge.Repository {
	converted := forge.Repository{Path: r.FullName, Page: page + "/" + r.FullName, DefaultBranch: r.DefaultBranch, SeesPushes: r.AllowManual && r.DetectsManual}
	converted.MayPush = r.Permissions.Push && !r.Archived && !r.Mirror
	converted.MayMerge = converted.MayPush
	if r.Parent != nil {
		converted.Parent = r.Parent.FullName
	}
	for _, style := range r.styles() {
		if style == "merge" || style == "squash" || style == "rebase" {
			converted.Methods = append(converted.Methods, style)
		}
	}
	return converted
}

// styles are the ways to merge by Gitea's names, the default first.
func (r repository) styles() (styles []string) {
	for _, style := range []struct {
		name    string
		allowed bool
	}{{"merge", r.AllowMerge}, {"squash", r.AllowSquash}, {"rebase", r.AllowRebase}, {"rebase-merge", r.AllowRebaseMerge}, {"fast-forward-only", r.AllowForward}} {
		if style.allowed {
			styles = append(styles, style.name)
		}
	}
	if i := slices.Index(styles, r.DefaultStyle); i > 0 {
		styles = slices.Insert(slices.Delete(styles, i, i+1), 0, r.DefaultStyle)
	}
	return styles
}

func (i issue) convert() forge.Issue {
	converted := forge.Issue{Number: i.Number, Title: i.Title, Body: i.Body, Author: i.User.Login, Closed: i.State == "closed", Page: i.HTMLURL, UpdatedAt: i.UpdatedAt}
	for _, label := range i.Labels {
		converted.Labels = append(converted.Labels, label.Name)
	}
	return converted
}

func (c comment) convert(on forge.Subject) forge.Remark {
	return forge.Remark{ID: c.ID, On: on, Author: c.User.Login, ByBot: c.User.bot(), Body: c.Body, Page: c.HTMLURL, Edited: c.UpdatedAt.After(c.CreatedAt), CreatedAt: c.CreatedAt, ChangedAt: c.UpdatedAt}
}

func (p pull) convert() forge.Proposal {
	converted := forge.Proposal{Number: p.Number, Title: titleOf(p.Title), Body: p.Body, Branch: p.Head.Label, Base: p.Base.Ref, Head: p.Head.SHA, Draft: p.Draft,
		State: forge.Open, Page: p.HTMLURL}
	switch {
	case p.Head.RepoID == p.Base.RepoID:
	case p.Head.Repo == nil:
		converted.Fork = forge.ForkGone
	default:
		converted.Fork = p.Head.Repo.FullName
	}
	switch {
	case p.Merged:
		converted.State, converted.MergedAt = forge.Merged, p.MergedAt
		if p.Commit != nil {
			converted.MergeCommit = *p.Commit
		}
	case p.State == "closed":
		converted.State = forge.Closed
	}
	return converted
}

// Gitea has no drafts of its own: a title that begins so means one, unless it is configured otherwise.
const draftPrefix = "WIP: "

// disarmed marks the title of a finished change that begins as a draft's would: a stranger's words would keep it from being merged.
const disarmed = "\u2060"

// titled returns the title to send.
func titled(title string, draft bool) string {
	upper := strings.ToUpper(title)
	switch {
	case draft:
		return draftPrefix + title
	case strings.HasPrefix(upper, "WIP:") || strings.HasPrefix(upper, "[WIP]"):
		return disarmed + title
	}
	return title
}

// titleOf returns the title without what titled added.
func titleOf(sent string) string {
	return strings.TrimPrefix(strings.TrimPrefix(sent, draftPrefix), disarmed)
}

func (b branch) convert() forge.Requirements {
	asked := forge.Requirements{Approvals: b.Approvals, PushRefused: b.Protected && !b.UserCanPush}
	if b.ChecksStatuses {
		asked.Verdicts = b.Contexts
	}
	return asked
}

// verdictStates are Gitea's words for the states of a check. A warning does not keep Gitea from merging.
var verdictStates = map[string]forge.VerdictState{
	"pending": forge.Pending, "success": forge.Passed, "warning": forge.Passed, "skipped": forge.Passed, "failure": forge.Failed, "error": forge.Failed,
}

func (s status) convert(page string) forge.Verdict {
	state, known := verdictStates[s.State]
	if !known {
		state = forge.Pending
	}
	v := forge.Verdict{Name: s.Context, State: state, Summary: s.Description, Page: s.TargetURL, At: s.UpdatedAt}
	if strings.HasPrefix(v.Page, "/") && !strings.HasPrefix(v.Page, "//") {
		v.Page = page + v.Page
	}
	return v
}

// reviewStates are Gitea's words for reviews. A pending one is seen by its author alone, and a requested one is none yet.
var reviewStates = map[string]forge.ReviewState{"APPROVED": forge.Approved, "REQUEST_CHANGES": forge.ChangesWanted, "COMMENT": forge.Commented}
