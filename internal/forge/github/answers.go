package github

import "time"

// These types are of GitHub's answers the fields that the driver reads.

type repositoryAnswer struct {
	FullName         string `json:"full_name"`
	URL              string `json:"url"`
	HTMLURL          string `json:"html_url"`
	DefaultBranch    string `json:"default_branch"`
	Archived         bool
	Permissions      struct{ Push bool }
	Parent, Source   *named
	AllowMergeCommit *bool `json:"allow_merge_commit"`
	AllowSquashMerge *bool `json:"allow_squash_merge"`
	AllowRebaseMerge *bool `json:"allow_rebase_merge"`
}

type named struct {
	FullName string `json:"full_name"`
}

type issueAnswer struct {
	Number        int
	Title, Body   string
	State         string
	User          account
	Labels        []struct{ Name string }
	HTMLURL       string    `json:"html_url"`
	RepositoryURL string    `json:"repository_url"`
	UpdatedAt     time.Time `json:"updated_at"`
	// PullRequest is there if the issue is one.
	PullRequest *struct{} `json:"pull_request"`
	// What GitHub links to it by itself: a parent, parts, and open issues that block it.
	ParentURL string              `json:"parent_issue_url"`
	Parts     struct{ Total int } `json:"sub_issues_summary"`
	Blocked   struct {
		By int `json:"blocked_by"`
	} `json:"issue_dependencies_summary"`
}

type commentAnswer struct {
	ID        int64
	NodeID    string `json:"node_id"`
	Body      string
	User      account
	HTMLURL   string    `json:"html_url"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Via is the application that wrote it in a person's name.
	Via *struct{} `json:"performed_via_github_app"`
}

type pullAnswer struct {
	Number      int
	NodeID      string `json:"node_id"`
	Title, Body string
	State       string
	Draft       bool
	Merged      bool
	UpdatedAt   time.Time `json:"updated_at"`
	// ReviewComments is nil in lists.
	ReviewComments *int `json:"review_comments"`
	// Mergeable is nil while GitHub computes it.
	Mergeable      *bool
	Head, Base     pullEnd
	HTMLURL        string     `json:"html_url"`
	MergedAt       *time.Time `json:"merged_at"`
	MergeCommitSHA string     `json:"merge_commit_sha"`
}

// pullEnd is a branch. Its repository may be deleted.
type pullEnd struct {
	Ref, SHA string
	Repo     *struct {
		ID       int64
		FullName string `json:"full_name"`
	}
}

type reviewAnswer struct {
	State, Body string
	User        account
	CommitID    string    `json:"commit_id"`
	HTMLURL     string    `json:"html_url"`
	SubmittedAt time.Time `json:"submitted_at"`
	Association string    `json:"author_association"`
}

type statusAnswer struct {
	State, Context, Description string
	TargetURL                   string    `json:"target_url"`
	UpdatedAt                   time.Time `json:"updated_at"`
}

type checkAnswer struct {
	ID                 int64
	Name               string
	HeadSHA            string `json:"head_sha"`
	ExternalID         string `json:"external_id"`
	Status, Conclusion string
	App                struct{ ID int64 }
	Output             struct{ Title string }
	DetailsURL         string    `json:"details_url"`
	HTMLURL            string    `json:"html_url"`
	StartedAt          time.Time `json:"started_at"`
	CompletedAt        time.Time `json:"completed_at"`
}

type checksAnswer struct {
	CheckRuns []checkAnswer `json:"check_runs"`
}

type protectionAnswer struct {
	RequiredStatusChecks *struct {
		Contexts []string
		Checks   []*struct{ Context string }
	} `json:"required_status_checks"`
	RequiredPullRequestReviews *struct {
		RequiredApprovingReviewCount int `json:"required_approving_review_count"`
	} `json:"required_pull_request_reviews"`
	Restrictions *struct{}
	LockBranch   struct{ Enabled bool } `json:"lock_branch"`
}
