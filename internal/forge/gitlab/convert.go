package gitlab

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// Levels of access. A Developer may push branches that are not protected.
const developer = 30

// What is read of GitLab's answers.
type (
	user struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
		Bot      bool   `json:"bot"`
	}
	access struct {
		Level int `json:"access_level"`
	}
	project struct {
		ID            int64  `json:"id"`
		Path          string `json:"path_with_namespace"`
		Page          string `json:"web_url"`
		DefaultBranch string `json:"default_branch"`
		Archived      bool   `json:"archived"`
		MergeMethod   string `json:"merge_method"`
		SquashOption  string `json:"squash_option"`
		// NeedsPipeline: GitLab merges only if the newest pipeline passed. SkippedPasses: a skipped one counts as passed.
		NeedsPipeline bool `json:"only_allow_merge_if_pipeline_succeeds"`
		SkippedPasses bool `json:"allow_merge_on_skipped_pipeline"`
		Trains        bool `json:"merge_trains_enabled"`
		Parent        *struct {
			Path string `json:"path_with_namespace"`
		} `json:"forked_from_project"`
		// Filled is how far GitLab is with a fork's branches.
		Filled string `json:"import_status"`
		// Approvals is only there if the plan has rules of approval.
		Approvals   *int `json:"approvals_before_merge"`
		Permissions struct {
			Project *access `json:"project_access"`
			Group   *access `json:"group_access"`
		} `json:"permissions"`
	}
	member struct {
		Username    string `json:"username"`
		State       string `json:"state"`
		AccessLevel int    `json:"access_level"`
	}
	issue struct {
		IID         int       `json:"iid"`
		Title       string    `json:"title"`
		Description string    `json:"description"`
		State       string    `json:"state"`
		Author      user      `json:"author"`
		Labels      []string  `json:"labels"`
		Page        string    `json:"web_url"`
		UpdatedAt   time.Time `json:"updated_at"`
		MovedTo     *int64    `json:"moved_to_id"`
	}
	note struct {
		ID        int64     `json:"id"`
		Type      string    `json:"type"`
		Body      string    `json:"body"`
		Author    user      `json:"author"`
		System    bool      `json:"system"`
		Internal  bool      `json:"internal"` // shown to members alone
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
		Resolved  bool      `json:"resolved"`
		Position  *position `json:"position"`
	}
	position struct {
		Head    string `json:"head_sha"`
		NewPath string `json:"new_path"`
		OldPath string `json:"old_path"`
		NewLine int    `json:"new_line"`
	}
	discussion struct {
		ID    string `json:"id"`
		Notes []note `json:"notes"`
	}
	mergeRequest struct {
		IID          int        `json:"iid"`
		Title        string     `json:"title"`
		Description  string     `json:"description"`
		State        string     `json:"state"`
		Draft        bool       `json:"draft"`
		Branch       string     `json:"source_branch"`
		Base         string     `json:"target_branch"`
		From         int64      `json:"source_project_id"`
		Into         int64      `json:"target_project_id"`
		Head         string     `json:"sha"`
		MergeCommit  string     `json:"merge_commit_sha"`
		SquashCommit string     `json:"squash_commit_sha"`
		MergedAt     *time.Time `json:"merged_at"`
		Page         string     `json:"web_url"`
		Reviewers    []user     `json:"reviewers"`
		// Standing is what keeps it from being merged.
		Standing  string `json:"detailed_merge_status"`
		Conflicts bool   `json:"has_conflicts"`
	}
	pipeline struct {
		ID        int64     `json:"id"`
		SHA       string    `json:"sha"`
		Ref       string    `json:"ref"`
		Source    string    `json:"source"` // external if only statuses made it
		Status    string    `json:"status"`
		Page      string    `json:"web_url"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	// commitStatus is a status that an application reported, or a job: GitLab keeps both in one place.
	commitStatus struct {
		ID           int64      `json:"id"`
		SHA          string     `json:"sha"`
		Name         string     `json:"name"`
		Status       string     `json:"status"`
		Description  string     `json:"description"`
		Page         string     `json:"target_url"`
		JobPage      string     `json:"web_url"`
		AllowFailure bool       `json:"allow_failure"`
		CreatedAt    *time.Time `json:"created_at"`
		FinishedAt   *time.Time `json:"finished_at"`
	}
	branch struct {
		Protected bool `json:"protected"`
		CanPush   bool `json:"can_push"`
	}
)

// botName matches the accounts of access tokens of projects and groups, and service accounts. Notes don't say that their author is one.
var botName = lazy.Expression{Text: `^(?:(?:project|group)_\d+_bot(?:\d*|_[0-9a-f]+)|service_account_\w+|ghost|alert-bot|support-bot|security-bot|GitLabDuo|GitLab-Security-Bot)$`}

func isBot(username string) bool { return botName.Regexp().MatchString(username) }

// level is the account's own, as far as the project has it.
func (p project) level() (level int) {
	for _, by := range []*access{p.Permissions.Project, p.Permissions.Group} {
		if by != nil {
			level = max(level, by.Level)
		}
	}
	return level
}

func (p project) convert(level int) forge.Repository {
	r := forge.Repository{Path: p.Path, Page: strings.TrimRight(p.Page, "/"), DefaultBranch: p.DefaultBranch, SeesPushes: true}
	r.MayPush = level >= developer && !p.Archived
	r.MayMerge = r.MayPush
	if p.Parent != nil {
		r.Parent = p.Parent.Path
	}
	switch {
	case p.SquashOption == "always":
		r.Methods = []string{"squash"}
	case p.MergeMethod == "merge" || p.MergeMethod == "":
		r.Methods = []string{"merge"}
	default: // a merge commit is only allowed on a branch that is up to date, or not at all
		r.Methods = []string{"rebase"}
	}
	return r
}

func (i issue) convert() forge.Issue {
	return forge.Issue{Number: i.IID, Title: i.Title, Body: i.Description, Author: i.Author.Username, Labels: i.Labels, Closed: i.State == "closed",
		Page: i.Page, UpdatedAt: i.UpdatedAt}
}

// settling is how long after its creation a note may be changed by GitLab itself.
const settling = 2 * time.Second

func (s *Server) remark(on forge.Subject, n note) forge.Remark {
	where := "issues"
	if on.Pull {
		where = "merge_requests"
	}
	return forge.Remark{ID: n.ID, On: on, Author: n.Author.Username, ByBot: n.Author.Bot || isBot(n.Author.Username), Body: n.Body,
		Page:   fmt.Sprintf("%s/%s/-/%s/%d#note_%d", s.page, s.path, where, on.Number, n.ID),
		Edited: n.UpdatedAt.Sub(n.CreatedAt) > settling, CreatedAt: n.CreatedAt, ChangedAt: n.UpdatedAt}
}

func (m mergeRequest) convert() forge.Proposal {
	p := forge.Proposal{Number: m.IID, Title: titleOf(m.Title), Body: m.Description, Branch: m.Branch, Base: m.Base, Head: m.Head, Draft: m.Draft,
		State: forge.Open, Page: m.Page}
	switch m.State {
	case "merged":
		p.State, p.MergedAt = forge.Merged, m.MergedAt
		switch { // a fast-forward makes no commit
		case m.MergeCommit != "":
			p.MergeCommit = m.MergeCommit
		case m.SquashCommit != "":
			p.MergeCommit = m.SquashCommit
		default:
			p.MergeCommit = m.Head
		}
	case "closed":
		p.State = forge.Closed
	}
	return p
}

// draftPrefix makes a draft of a merge request. draftTitle is all that does.
const draftPrefix = "Draft: "

var draftTitle = lazy.Expression{Text: `(?i)^\s*(?:\[(?:draft|wip)\]|\(draft\)|(?:draft|wip):)`}

// disarmed marks the title of a finished change that begins as a draft's would: a stranger's words would keep it from being merged.
const disarmed = "\u2060"

// titled returns the title to send.
func titled(title string, draft bool) string {
	switch {
	case draft:
		return draftPrefix + title
	case draftTitle.Regexp().MatchString(title):
		return disarmed + title
	}
	return title
}

// titleOf returns the title without what titled added.
func titleOf(sent string) string {
	return strings.TrimPrefix(strings.TrimPrefix(sent, draftPrefix), disarmed)
}

// states are GitLab's words for how far a job or a pipeline is. All that are left out are waited for: a job that only starts by hand keeps its
// pipeline from passing.
var states = map[string]forge.VerdictState{
	"success": forge.Passed, "skipped": forge.Passed, "failed": forge.Failed, "canceled": forge.Failed, "canceling": forge.Failed,
}

func (c commitStatus) convert(jobs string) forge.Verdict {
	state, known := states[c.Status]
	switch {
	case !known:
		state = forge.Pending
		if c.Status == "manual" && c.AllowFailure {
			state = forge.Passed
		}
	case state == forge.Failed && c.AllowFailure:
		state = forge.Passed
	}
	v := forge.Verdict{Name: c.Name, State: state, Summary: c.Description}
	if v.Page = cmp.Or(c.Page, c.JobPage); v.Page == "" { // a job, in a list of statuses
		v.Page = fmt.Sprintf("%s%d", jobs, c.ID)
	}
	for _, at := range []*time.Time{c.CreatedAt, c.FinishedAt} {
		if at != nil {
			v.At = *at
		}
	}
	return v
}
