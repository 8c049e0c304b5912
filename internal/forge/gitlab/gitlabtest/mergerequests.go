package gitlabtest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MergeRequest is a merge request.
type MergeRequest struct {
	Title, Body, Author string
	Branch, Base        string
	// From is the source project; the project itself is 7.
	From int64
	// Head is the last commit of Branch.
	Head   string
	Labels []string
	// State is opened, closed or merged. Merge is the commit that merged it.
	State, Merge, Squash string
	// Train is its state on the merge train; empty if it never was there.
	Train    string
	MergedAt *time.Time
	// Standing is what keeps it from being merged, if it is not empty.
	Standing string
	// Pipeline is the head pipeline's number; 0 if there is none.
	Pipeline  int64
	Approvals []Approval
	Versions  []Version
	// Asked are the numbers of who was asked to review.
	Asked []int64
	// Requested are reviewers who ask for changes.
	Requested        []string
	Created, Updated time.Time
}

// Approval is a person's. A zero At is not told.
type Approval struct {
	By string
	At time.Time
}

// Version is a state of the branch.
type Version struct {
	Head string
	At   time.Time
}

var draft = regexp.MustCompile(`(?i)^\s*(\[draft\]|\(draft\)|draft:)`)

// pushed does what GitLab does after a push: it notes new versions, marks as merged what is on its base now, and closes those whose branch is gone.
func (s *Server) pushed() {
	for _, m := range s.state.Merges {
		if m.State != "opened" || m.From != 7 && s.forkOf(m.From) == nil {
			continue
		}
		head := s.offered(m.From, m.Branch)
		if head != "" && head != m.Head {
			m.Head, m.Pipeline = head, 0
			m.Versions = append(m.Versions, Version{head, s.state.tick()})
		}
		if s.state.Unnoticed {
			continue
		}
		if commit, landed := s.Landed(m.Head, m.Base); landed && m.Head != "" {
			s.state.merged(m, commit)
		} else if head == "" {
			m.State = "closed"
		}
	}
}

// forkOf is the fork with this number; nil if there is none.
func (s *Server) forkOf(id int64) *Fork {
	for _, f := range s.state.Forks {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// offered is the commit of a branch of a project; empty if there is none.
func (s *Server) offered(from int64, branch string) string {
	fork := s.forkOf(from)
	switch {
	case from == 7:
		return s.Head(branch)
	case fork == nil:
		return ""
	}
	return s.Take(fork.Git, branch)
}

func (st *State) merged(m *MergeRequest, commit string) {
	now := st.tick()
	m.State, m.Merge, m.MergedAt, m.Updated = "merged", commit, &now, now
}

// standing is what GitLab would say keeps a merge request from being merged.
func (c *call) standing(m *MergeRequest) string {
	_, clean := c.Merged(c.Head(m.Base), m.Head)
	passed := false
	for _, p := range c.st.Pipelines {
		passed = passed || p.ID == m.Pipeline && p.Status == "success"
	}
	required, _ := c.st.Settings["only_allow_merge_if_pipeline_succeeds"].(bool)
	switch {
	case m.State != "opened":
		return "not_open"
	case m.Standing != "":
		return m.Standing
	case !clean:
		return "conflict"
	case draft.MatchString(m.Title):
		return "draft_status"
	case required && !passed:
		return "ci_must_pass"
	}
	return "mergeable"
}

func (c *call) mergeJSON(number int, m *MergeRequest, full bool) object {
	made := object{
		"id": 9000 + number, "iid": number, "project_id": 7, "title": m.Title, "description": m.Body, "state": m.State, "draft": draft.MatchString(m.Title),
		"author": c.user(m.Author), "source_branch": m.Branch, "target_branch": m.Base, "source_project_id": m.From, "target_project_id": 7, "sha": m.Head,
		"labels": append([]string{}, m.Labels...), "web_url": fmt.Sprintf("%s/%s/-/merge_requests/%d", c.URL, Path, number), "merge_commit_sha": nil, "squash_commit_sha": nil,
		"merged_at": nil, "created_at": stamp(m.Created), "updated_at": stamp(m.Updated), "detailed_merge_status": c.standing(m), "has_conflicts": c.standing(m) == "conflict",
	}
	reviewers := []any{}
	for name := range c.st.Levels {
		if slices.Contains(m.Asked, userID(name)) {
			reviewers = append(reviewers, c.user(name))
		}
	}
	made["reviewers"] = reviewers
	if m.Merge != "" {
		made["merge_commit_sha"] = m.Merge
	}
	if m.Squash != "" {
		made["squash_commit_sha"] = m.Squash
	}
	if m.MergedAt != nil {
		made["merged_at"] = stamp(*m.MergedAt)
	}
	if full {
		made["head_pipeline"] = nil
		for _, p := range c.st.Pipelines {
			if p.ID == m.Pipeline {
				made["head_pipeline"] = c.pipelineJSON(p)
			}
		}
	}
	return made
}

func (c *call) merge(name string) (int, *MergeRequest) {
	number := c.number(name)
	m := c.st.Merges[number]
	if m == nil {
		c.lacks("Merge request")
	}
	return number, m
}

func getMerge(c *call) {
	if number, m := c.merge("p3"); m != nil {
		c.send(http.StatusOK, c.mergeJSON(number, m, true))
	}
}

func (c *call) mergesThat(fit func(*MergeRequest) bool) {
	var found []any
	for number := len(c.st.Merges); number > 0; number-- {
		if m := c.st.Merges[number]; fit(m) {
			found = append(found, c.mergeJSON(number, m, false))
		}
	}
	c.list(c.byUpdate(found))
}

func listMerges(c *call) {
	branch := c.r.URL.Query().Get("source_branch")
	c.mergesThat(func(m *MergeRequest) bool { return branch == "" || m.Branch == branch })
}

func listMergesOf(c *call) {
	commit := c.r.PathValue("p4")
	c.mergesThat(func(m *MergeRequest) bool { return m.Head == commit })
}

func createMerge(c *call) {
	var asked struct {
		Title, Description string
		Branch             string `json:"source_branch"`
		Base               string `json:"target_branch"`
		Into               int64  `json:"target_project_id"`
	}
	c.decode(&asked)
	from := int64(7)
	if fork := c.fork(); fork != nil {
		from = fork.ID
		if asked.Into != 7 {
			c.t.Errorf("a merge request of a fork goes into project %d", asked.Into)
		}
	}
	for number, m := range c.st.Merges {
		if m.State == "opened" && m.From == from && m.Branch == asked.Branch && m.Base == asked.Base {
			c.refuse(http.StatusConflict, []string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", number)})
			return
		}
	}
	head := c.offered(from, asked.Branch)
	if head == "" {
		c.refuse(http.StatusBadRequest, object{"source_branch": []string{"does not exist"}})
		return
	}
	now := c.st.tick()
	number := len(c.st.Merges) + 1
	m := &MergeRequest{Title: asked.Title, Body: asked.Description, Author: c.account, Branch: asked.Branch, Base: asked.Base, From: from, Head: head, State: "opened",
		Versions: []Version{{head, now}}, Created: now, Updated: now}
	c.st.Merges[number] = m
	c.send(http.StatusCreated, c.mergeJSON(number, m, true))
}

func editMerge(c *call) {
	number, m := c.merge("p3")
	if m == nil {
		return
	}
	var asked edits
	c.decode(&asked)
	if asked.Title != nil {
		m.Title = *asked.Title
	}
	if asked.Description != nil {
		m.Body = *asked.Description
	}
	if asked.Reviewers != nil {
		m.Asked = asked.Reviewers
	}
	if asked.Event == "close" && m.State == "opened" {
		m.State = "closed"
	}
	m.Labels, m.Updated = asked.labels(m.Labels), c.st.tick()
	c.send(http.StatusOK, c.mergeJSON(number, m, true))
}

func acceptMerge(c *call) {
	number, m := c.merge("p3")
	if m == nil {
		return
	}
	var asked struct {
		SHA     string
		Message string `json:"merge_commit_message"`
	}
	c.decode(&asked)
	base := c.Head(m.Base)
	tree, clean := c.Merged(base, m.Head)
	switch standing := c.standing(m); {
	case c.st.Levels[c.account] < max(c.st.Protected[m.Base], 30):
		c.refuse(http.StatusUnauthorized, "401 Unauthorized")
	case !clean:
		c.refuse(http.StatusUnprocessableEntity, "Branch cannot be merged")
	case standing != "mergeable" && standing != "unchecked":
		c.refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	case asked.SHA != "" && asked.SHA != m.Head:
		c.refuse(http.StatusConflict, "SHA does not match HEAD of source branch: "+m.Head)
	default:
		commit := c.MustRun(strings.TrimSpace(asked.Message)+"\n", "commit-tree", tree, "-p", base, "-p", m.Head)
		c.MustRun("", "update-ref", "refs/heads/"+m.Base, commit, base)
		c.st.merged(m, commit)
		c.send(http.StatusOK, c.mergeJSON(number, m, true))
	}
}

func enqueue(c *call) {
	_, m := c.merge("p4")
	if m == nil {
		return
	}
	var asked struct{ SHA string }
	c.decode(&asked)
	if asked.SHA != m.Head {
		c.refuse(http.StatusConflict, "SHA does not match HEAD of source branch")
		return
	}
	if m.Train != "" && m.Train != "merged" {
		c.refuse(http.StatusBadRequest, "Failed to merge")
		return
	}
	m.Train = "idle"
	c.send(http.StatusCreated, []any{object{"id": c.st.id(), "status": m.Train, "target_branch": m.Base, "user": c.user(c.account)}})
}

func getTrain(c *call) {
	_, m := c.merge("p4")
	switch {
	case m == nil:
	case m.Train == "":
		c.refuse(http.StatusNotFound, "404 Not Found")
	default:
		c.send(http.StatusOK, object{"id": c.st.id(), "status": m.Train, "target_branch": m.Base})
	}
}

// MergeTrain merges a merge request that is on the train.
func (s *Server) MergeTrain(number int) {
	s.With(func(st *State) {
		m := st.Merges[number]
		base := s.Head(m.Base)
		tree, _ := s.Merged(base, m.Head)
		commit := s.MustRun("Merge by train\n", "commit-tree", tree, "-p", base, "-p", m.Head)
		s.MustRun("", "update-ref", "refs/heads/"+m.Base, commit, base)
		m.Train = "merged"
		st.merged(m, commit)
	})
}

func getApprovals(c *call) {
	number, m := c.merge("p3")
	if m == nil {
		return
	}
	by := []any{}
	for _, a := range m.Approvals {
		one := object{"user": c.user(a.By)}
		if !a.At.IsZero() {
			one["approved_at"] = stamp(a.At)
		}
		by = append(by, one)
	}
	c.send(http.StatusOK, object{"id": 9000 + number, "iid": number, "approved": len(by) > 0, "approved_by": by})
}

func listVersions(c *call) {
	_, m := c.merge("p3")
	if m == nil {
		return
	}
	var found []any
	for i := len(m.Versions) - 1; i >= 0; i-- {
		found = append(found, object{"id": i + 1, "head_commit_sha": m.Versions[i].Head, "created_at": stamp(m.Versions[i].At), "state": "collected"})
	}
	c.list(found)
}

func listReviewers(c *call) {
	_, m := c.merge("p3")
	if m == nil {
		return
	}
	var found []any
	for _, name := range m.Requested {
		found = append(found, object{"user": c.user(name), "state": "requested_changes", "created_at": stamp(c.st.Now)})
	}
	c.list(found)
}
