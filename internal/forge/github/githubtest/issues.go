package githubtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (c *call) address(format string, args ...any) string {
	return c.URL + "/api/v3/repos/" + c.st.fullName() + fmt.Sprintf(format, args...)
}

func (c *call) page(format string, args ...any) string {
	return c.URL + "/" + c.st.fullName() + fmt.Sprintf(format, args...)
}

// user is an account as all answers have it.
func user(login string) object {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return object{"login": login, "type": kind, "id": 100 + len(login), "html_url": "https://github.com/" + strings.TrimSuffix(login, "[bot]")}
}

func (c *call) repository() object {
	return object{
		"name": strings.TrimPrefix(c.st.fullName(), Owner+"/"), "full_name": c.st.fullName(), "owner": user(Owner),
		"html_url": c.page(""), "url": c.address(""), "default_branch": "main",
	}
}

// forked is the repository of a fork.
func (c *call) forked(owner string, fork *Fork) object {
	r := copied(c.repository()).(object)
	path := owner + "/" + fork.Name
	return with(r, object{"id": 7_000 + len(path), "name": fork.Name, "full_name": path, "owner": user(owner), "fork": true, "html_url": c.URL + "/" + path,
		"url": c.URL + "/api/v3/repos/" + path})
}

// writes reports whether the account may push.
func (c *call) writes() bool {
	may := c.st.Permissions[c.account]
	return may == "write" || may == "admin"
}

// association is how GitHub says who an author is.
func (c *call) association(author string) string {
	switch c.st.Permissions[author] {
	case "admin":
		return "OWNER"
	case "write":
		return "COLLABORATOR"
	}
	return "NONE"
}

func getRepository(c *call) {
	may := c.st.Permissions[c.account]
	example := c.example(200).(object)
	parent := with(copied(example["parent"]).(object), c.repository())
	r := with(example, c.repository())
	r["language"] = nil // the example lacks it
	for _, name := range []string{"parent", "source", "template_repository", "organization"} {
		delete(r, name)
	}
	if owner := c.r.PathValue("owner"); c.st.Forks[owner] != nil {
		with(r, c.forked(owner, c.st.Forks[owner]))
		r["parent"], r["source"] = parent, parent
		may = map[bool]string{true: "admin", false: "read"}[owner == c.account]
	}
	writes := may == "write" || may == "admin"
	c.send(200, with(r, object{
		"permissions":        object{"admin": may == "admin", "push": writes, "pull": true, "maintain": may == "admin", "triage": writes},
		"allow_merge_commit": slices.Contains(c.st.Methods, "merge"), "allow_squash_merge": slices.Contains(c.st.Methods, "squash"),
		"allow_rebase_merge": slices.Contains(c.st.Methods, "rebase"),
	}))
}

func getPermission(c *call) {
	login := c.r.PathValue("username")
	may, ok := c.st.Permissions[login]
	if !c.writes() {
		c.refuse(403, "Must have push access to view collaborator permission.")
		return
	}
	if !ok {
		c.refuse(404, login+" is not a user")
		return
	}
	c.send(200, with(c.example(200).(object), object{"permission": may, "role_name": may, "user": with(user(login), object{"role_name": may})}))
}

// issueJSON fills in the published example of an issue.
func (c *call) issueJSON(example object, number int, i *Issue) object {
	state := map[bool]string{false: "open", true: "closed"}[i.Closed]
	made := with(example, object{
		"number": number, "id": 9_000_000_000 + number, "title": i.Title, "body": i.Body, "state": state, "user": user(i.Author), "comments": 0,
		"labels": c.labels(i.Labels), "assignee": nil, "assignees": []any{}, "milestone": nil, "closed_at": nil, "closed_by": nil,
		"created_at": stamp(i.Created), "updated_at": stamp(i.Updated), "repository_url": c.address(""), "url": c.address("/issues/%d", number),
		"html_url": c.page("/issues/%d", number), "state_reason": nil, "locked": false, "active_lock_reason": nil,
	})
	made["parent_issue_url"], made["sub_issues_summary"] = nil, object{"total": len(i.Parts), "completed": 0, "percent_completed": 0}
	made["issue_dependencies_summary"] = object{"blocked_by": len(i.BlockedBy), "blocking": 0, "total_blocked_by": len(i.BlockedBy), "total_blocking": 0}
	for parent, other := range c.st.Issues {
		if slices.Contains(other.Parts, number) {
			made["parent_issue_url"] = c.address("/issues/%d", parent)
		}
	}
	if i.Closed {
		made["closed_at"], made["state_reason"] = stamp(i.Updated), "completed"
	}
	delete(made, "pull_request")
	return made
}

// pullAsIssue is how the issues' operations show a pull request.
func (c *call) pullAsIssue(example object, number int, p *Pull) object {
	links := example["pull_request"]
	made := c.issueJSON(example, number, &Issue{Title: p.Title, Body: p.Body, Author: p.Author, Closed: p.Closed, Labels: p.Labels, Created: p.Created, Updated: p.Updated})
	made["pull_request"] = links
	return with(made, object{"html_url": c.page("/pull/%d", number)})
}

func (c *call) labels(names []string) []any {
	made := []any{}
	for i, name := range names {
		made = append(made, object{"id": 200 + i, "node_id": "LA_1", "url": c.address("/labels/1"), "name": name, "color": "ededed", "default": false, "description": nil})
	}
	return made
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// found returns the issue that is asked for, or answers that there is none.
func (c *call) found() (*Issue, bool) {
	i, ok := c.st.Issues[c.number("issue_number")]
	switch {
	case !ok:
		c.refuse(404, "Not Found")
	case i.Gone:
		c.refuse(410, "This issue was deleted")
		return nil, false
	}
	return i, ok
}

func getIssue(c *call) {
	number := c.number("issue_number")
	example := c.published("issue").(object) // the operation's own lacks parts of a user
	if p, ok := c.st.Pulls[number]; ok {
		c.send(200, c.pullAsIssue(with(c.pullExample(), example), number, p))
		return
	}
	i, ok := c.found()
	if !ok {
		return
	}
	made := c.issueJSON(example, number, i)
	if i.Transferred != "" { // GitHub redirects; what is there says where it is
		made["repository_url"] = c.URL + "/api/v3/repos/" + i.Transferred
	}
	c.send(200, made)
}

func (c *call) pullExample() object {
	return object{"pull_request": object{"url": c.address("/pulls/1"), "html_url": c.page("/pull/1"), "diff_url": c.page("/pull/1.diff"), "patch_url": c.page("/pull/1.patch")}}
}

// listLinked answers the issues that one has in a list.
func listLinked(of func(*Issue) []int) func(*call) {
	return func(c *call) {
		i, ok := c.found()
		if !ok {
			return
		}
		var found []any
		for _, number := range of(i) {
			made := c.issueJSON(c.published("issue").(object), number, c.st.Issues[number])
			if elsewhere := c.st.Issues[number].Transferred; elsewhere != "" {
				made["repository_url"] = c.URL + "/api/v3/repos/" + elsewhere
			}
			found = append(found, made)
		}
		c.send(200, page(c, found))
	}
}

func createIssue(c *call) {
	var asked struct{ Title, Body string }
	c.decode(&asked)
	number, now := c.st.number(), c.st.tick()
	c.st.Issues[number] = &Issue{Title: asked.Title, Body: asked.Body, Author: c.account, Created: now, Updated: now}
	c.send(201, c.issueJSON(c.example(201).(object), number, c.st.Issues[number]))
}

func editIssue(c *call) {
	i, ok := c.found()
	if !ok {
		return
	}
	var asked struct{ State string }
	c.decode(&asked)
	if closed := asked.State == "closed"; closed != i.Closed {
		i.Closed, i.Updated = closed, c.st.tick()
	}
	c.send(200, c.issueJSON(c.example(200).(object), c.number("issue_number"), i))
}

func listIssues(c *call) {
	q := c.r.URL.Query()
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	type listed struct {
		at   time.Time
		json any
	}
	var all []listed
	for number := c.st.number() - 1; number > 0; number-- { // newest first
		if p, ok := c.st.Pulls[number]; ok && !p.Updated.Before(since) && (state == "all" || p.Closed == (state == "closed")) && q.Get("labels") == "" {
			all = append(all, listed{p.Updated, c.pullAsIssue(with(c.pullExample(), c.element(200)), number, p)})
		}
		if i, ok := c.st.Issues[number]; ok && !i.Updated.Before(since) && i.matches(state, q.Get("labels"), q.Get("assignee"), q.Get("creator")) {
			all = append(all, listed{i.Updated, c.issueJSON(c.element(200), number, i)})
		}
	}
	if q.Get("sort") == "updated" && q.Get("direction") == "asc" {
		slices.SortStableFunc(all, func(a, b listed) int { return a.at.Compare(b.at) })
	}
	var found []any
	for _, one := range all {
		found = append(found, one.json)
	}
	c.send(200, page(c, found))
}

func (i *Issue) matches(state, labels, assignee, author string) bool {
	for _, label := range strings.Split(labels, ",") {
		if label != "" && !slices.ContainsFunc(i.Labels, func(has string) bool { return strings.EqualFold(has, label) }) {
			return false
		}
	}
	return !i.Gone && (state == "all" || i.Closed == (state == "closed")) && (assignee == "" || assignee == i.Assignee) && (author == "" || author == i.Author)
}

// searchIssues understands the qualifiers that the driver writes, and words.
func searchIssues(c *call) {
	example := c.example(200).(object)
	item := example["items"].([]any)[0].(object)
	var found []any
	for number := c.st.number() - 1; number > 0; number-- {
		if i, ok := c.st.Issues[number]; ok && i.found(c.r.URL.Query().Get("q")) {
			found = append(found, c.issueJSON(copied(item).(object), number, i))
		}
	}
	// A search can find other repositories' issues.
	if strings.Contains(c.r.URL.Query().Get("q"), "foreign") {
		found = append(found, with(c.issueJSON(copied(item).(object), 1, &Issue{Title: "foreign"}), object{"repository_url": c.URL + "/api/v3/repos/other/one"}))
	}
	c.send(200, object{"total_count": len(found), "incomplete_results": false, "search_type": "lexical", "items": page(c, found)})
}

func (i *Issue) found(query string) bool {
	for _, term := range terms(query) {
		qualifier, value, _ := strings.Cut(term, ":")
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		ok := true
		switch qualifier {
		case "repo", "is":
		case "state":
			ok = i.Closed == (value == "closed")
		case "label":
			ok = slices.Contains(i.Labels, value)
		case "milestone":
			ok = i.Milestone == value
		case "assignee":
			ok = i.Assignee == value
		case "author":
			ok = i.Author == value
		default:
			ok = strings.Contains(strings.ToLower(i.Title+" "+i.Body), strings.ToLower(term))
		}
		if !ok {
			return false
		}
	}
	return true
}

// terms splits at spaces outside of quotes, in which a backslash escapes.
func terms(query string) []string {
	inside, escaped := false, false
	return strings.FieldsFunc(query, func(r rune) bool {
		if r == '"' && !escaped {
			inside = !inside
		}
		escaped = r == '\\' && !escaped
		return r == ' ' && !inside
	})
}
