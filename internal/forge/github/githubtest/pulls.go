package githubtest

import (
	"fmt"
	"slices"
	"strings"
)

// pullJSON fills in the published example of a pull request; full is the one of a single pull request.
func (c *call) pullJSON(example object, number int, p *Pull, full bool) object {
	head := c.headOf(p)
	made := with(example, object{
		"number": number, "id": 8_000_000_000 + number, "node_id": fmt.Sprintf("PR_%d", number), "title": p.Title, "body": p.Body,
		"state": map[bool]string{false: "open", true: "closed"}[p.Closed], "draft": p.Draft, "user": user(p.Author),
		"head":       object{"ref": p.Branch, "sha": head, "label": p.Owner + ":" + p.Branch, "user": user(p.Owner), "repo": c.repository()},
		"base":       object{"ref": p.Base, "sha": c.Head(p.Base), "label": Owner + ":" + p.Base, "user": user(Owner), "repo": c.repository()},
		"created_at": stamp(p.Created), "updated_at": stamp(p.Updated), "closed_at": nil, "merged_at": nil, "merge_commit_sha": nil,
		"labels": c.labels(p.Labels), "assignee": nil, "assignees": []any{}, "milestone": nil, "requested_reviewers": []any{}, "requested_teams": []any{},
		"html_url": c.page("/pull/%d", number), "url": c.address("/pulls/%d", number), "locked": false, "active_lock_reason": nil, "auto_merge": nil,
	})
	if p.Owner != Owner {
		made["head"].(object)["repo"] = nil
		if fork := c.st.Forks[p.Owner]; fork != nil {
			made["head"].(object)["repo"] = with(copied(example["base"].(object)["repo"]).(object), c.forked(p.Owner, fork))
		}
	}
	if p.Closed {
		made["closed_at"] = stamp(p.Updated)
	}
	if p.Merged != nil {
		with(made, object{"merged_at": stamp(*p.Merged), "merge_commit_sha": p.Merge})
	}
	if full {
		with(made, c.mergeability(p, head))
	}
	return made
}

// mergeability is what only the full answer has.
func (c *call) mergeability(p *Pull, head string) object {
	made := object{"merged": p.Merged != nil, "merged_by": nil, "mergeable": nil, "rebaseable": nil, "mergeable_state": "unknown", "comments": 0, "review_comments": 0}
	for _, t := range p.Threads {
		made["review_comments"] = made["review_comments"].(int) + len(t.Comments)
	}
	if p.Closed {
		return made
	}
	_, clean := c.Merged(c.Head(p.Base), head)
	made["mergeable"], made["rebaseable"] = clean, clean
	switch {
	case !clean:
		made["mergeable_state"] = "dirty"
	case p.Draft:
		made["mergeable_state"] = "draft"
	case c.blocked(p, head) != "":
		made["mergeable_state"] = "blocked"
	default:
		made["mergeable_state"] = "clean"
	}
	return made
}

func (c *call) pull() (int, *Pull) {
	number := c.number("pull_number")
	p := c.st.Pulls[number]
	if p == nil {
		c.refuse(404, "Not Found")
	}
	return number, p
}

func getPull(c *call) {
	if number, p := c.pull(); p != nil {
		c.send(200, c.pullJSON(c.example(200).(object), number, p, true))
	}
}

func listPulls(c *call) {
	q := c.r.URL.Query()
	var found []any
	for number := c.st.number() - 1; number > 0; number-- {
		p, ok := c.st.Pulls[number]
		if !ok || q.Get("state") != "all" && p.Closed != (q.Get("state") == "closed") {
			continue
		}
		if head := q.Get("head"); strings.Contains(head, ":") && head != p.Owner+":"+p.Branch {
			continue // GitHub ignores a head without an owner
		}
		found = append(found, c.pullJSON(c.element(200), number, p, false))
	}
	c.send(200, page(c, found))
}

func createPull(c *call) {
	var asked struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	c.decode(&asked)
	owner, branch, ok := strings.Cut(asked.Head, ":")
	if !ok {
		owner, branch = Owner, asked.Head
	}
	problem := func(field, message string) {
		detail := object{"resource": "PullRequest", "code": "custom", "message": message}
		if field != "" {
			detail = object{"resource": "PullRequest", "code": "invalid", "field": field}
		}
		c.refuse(422, "Validation Failed", detail)
	}
	switch {
	case c.Head(asked.Base) == "":
		problem("base", "")
		return
	case c.offered(owner, branch) == "":
		problem("head", "")
		return
	case asked.Draft && c.st.NoDrafts:
		c.refuse(422, "Draft pull requests are not supported in this repository.")
		return
	case c.offered(owner, branch) == c.Head(asked.Base):
		problem("", fmt.Sprintf("No commits between %s and %s", asked.Base, branch))
		return
	}
	for _, p := range c.st.Pulls {
		if !p.Closed && p.Owner == owner && p.Branch == branch && p.Base == asked.Base {
			problem("", "A pull request already exists for "+owner+":"+branch+".")
			return
		}
	}
	number, now := c.st.number(), c.st.tick()
	p := &Pull{Title: asked.Title, Body: asked.Body, Author: c.account, Owner: owner, Branch: branch, Base: asked.Base, Draft: asked.Draft, Created: now, Updated: now}
	c.st.Pulls[number] = p
	c.send(201, c.pullJSON(c.example(201).(object), number, p, true))
}

func editPull(c *call) {
	number, p := c.pull()
	if p == nil {
		return
	}
	var asked struct{ Title, Body, State *string }
	c.decode(&asked)
	p.Updated = c.st.tick()
	if asked.Title != nil {
		p.Title = *asked.Title
	}
	if asked.Body != nil {
		p.Body = *asked.Body
	}
	if asked.State != nil && *asked.State == "closed" && !p.Closed {
		c.headOf(p)
		p.Closed = true
	}
	c.send(200, c.pullJSON(c.example(200).(object), number, p, true))
}

// blocked says what is missing for a merge.
func (c *call) blocked(p *Pull, head string) string {
	for _, one := range c.required(p.Base) {
		if !c.st.passed(head, one) {
			return fmt.Sprintf("Required status check %q is expected.", one)
		}
	}
	approvals := 0
	for _, r := range p.Reviews {
		if r.State == "APPROVED" && r.Commit == head {
			approvals++
		}
	}
	if needed := c.approvals(p.Base); approvals < needed {
		return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", needed)
	}
	return ""
}

func mergePull(c *call) {
	_, p := c.pull()
	if p == nil {
		return
	}
	var asked struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string
		Method  string `json:"merge_method"`
	}
	c.decode(&asked)
	head, base := c.headOf(p), c.Head(p.Base)
	tree, clean := c.Merged(base, head)
	methods := c.allowed(p.Base)
	switch {
	case !c.writes():
		c.refuse(403, "Must have push access to the repository.")
	case !slices.Contains(methods, asked.Method):
		names := map[string]string{"merge": "Merge commits are", "squash": "Squash merges are", "rebase": "Rebase merges are"}
		c.refuse(405, names[asked.Method]+" not allowed on this repository.")
	case p.Closed || !clean:
		c.refuse(405, "Pull Request is not mergeable")
	case asked.SHA != head:
		c.refuse(409, "Head branch was modified. Review and try the merge again.")
	case p.Draft:
		c.refuse(405, "Pull Request is still a draft")
	case c.queued(p.Base):
		c.refuse(405, "Changes must be made through the merge queue")
	case c.blocked(p, head) != "":
		c.refuse(405, c.blocked(p, head))
	default:
		parents := []string{"-p", base}
		if asked.Method == "merge" {
			parents = append(parents, "-p", head)
		}
		commit := c.MustRun(strings.TrimSpace(asked.Title+"\n\n"+asked.Message)+"\n", append([]string{"commit-tree", tree}, parents...)...)
		c.MustRun("", "update-ref", "refs/heads/"+p.Base, commit, base)
		now := c.st.tick()
		p.Closed, p.Merge, p.Merged, p.Updated = true, commit, &now, now
		c.send(200, with(c.example(200).(object), object{"sha": commit, "merged": true}))
	}
}

func listReviews(c *call) {
	_, p := c.pull()
	if p == nil {
		return
	}
	var found []any
	for _, r := range p.Reviews {
		found = append(found, with(c.element(200), object{
			"id": r.ID, "user": user(r.Author), "state": r.State, "body": r.Body, "commit_id": r.Commit, "submitted_at": stamp(r.At),
			"html_url": c.page("/pull/%d#pullrequestreview-%d", c.number("pull_number"), r.ID), "author_association": c.association(r.Author),
		}))
	}
	c.send(200, page(c, found))
}

func requestReviewers(c *call) {
	number, p := c.pull()
	if p == nil {
		return
	}
	var asked struct {
		Reviewers []string
		Teams     []string `json:"team_reviewers"`
	}
	c.decode(&asked)
	for _, team := range asked.Teams {
		asked.Reviewers = append(asked.Reviewers, "/"+team)
	}
	for _, name := range asked.Reviewers {
		if _, known := c.st.Permissions[name]; name == p.Author || !known && !strings.HasPrefix(name, "/") {
			c.refuse(422, "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository.")
			return
		}
		if !slices.Contains(p.Asked, name) {
			p.Asked = append(p.Asked, name)
		}
	}
	c.send(201, c.pullJSON(c.example(201).(object), number, p, false))
}
