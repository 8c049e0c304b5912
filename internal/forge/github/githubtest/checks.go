package githubtest

import (
	"slices"
	"strconv"
	"time"
)

// own is the id of the App that the installation's tokens belong to.
const own = 7

// required are the names that protection and rules ask for.
func (c *call) required(branch string) (names []string) {
	if checks, ok := c.st.Protection[branch]["required_status_checks"].(object); ok {
		names = append(names, checks["contexts"].([]string)...)
	}
	for _, rule := range c.st.Rules[branch] {
		if parameters, ok := rule["parameters"].(object); ok && rule["type"] == "required_status_checks" {
			for _, check := range parameters["required_status_checks"].([]object) {
				names = append(names, check["context"].(string))
			}
		}
	}
	return names
}

func (c *call) approvals(branch string) int {
	needed := 0
	if reviews, ok := c.st.Protection[branch]["required_pull_request_reviews"].(object); ok {
		needed = reviews["required_approving_review_count"].(int)
	}
	for _, rule := range c.st.Rules[branch] {
		if parameters, ok := rule["parameters"].(object); ok && rule["type"] == "pull_request" {
			needed = max(needed, parameters["required_approving_review_count"].(int))
		}
	}
	return needed
}

// allowed are the ways to merge that the repository and the branch's rules leave.
func (c *call) allowed(branch string) []string {
	methods := slices.Clone(c.st.Methods)
	for _, rule := range c.st.Rules[branch] {
		if parameters, ok := rule["parameters"].(object); ok && rule["type"] == "pull_request" {
			methods = slices.DeleteFunc(methods, func(m string) bool { return !slices.Contains(parameters["allowed_merge_methods"].([]string), m) })
		}
	}
	return methods
}

func (c *call) queued(branch string) bool {
	return slices.ContainsFunc(c.st.Rules[branch], func(rule map[string]any) bool { return rule["type"] == "merge_queue" })
}

// passed reports whether everything of this name about the commit passed, and there is something.
func (st *State) passed(commit, name string) bool {
	any, all := false, true
	for _, s := range st.latest(commit) {
		if s.Context == name {
			any, all = true, all && s.State == "success"
		}
	}
	for _, r := range st.CheckRuns {
		if r.Commit == commit && r.Name == name {
			any, all = true, all && r.Conclusion == "success"
		}
	}
	return any && all
}

// latest are the newest statuses of each context.
func (st *State) latest(commit string) (found []*Status) {
	for _, s := range slices.Backward(st.Statuses) {
		if s.Commit == commit && !slices.ContainsFunc(found, func(has *Status) bool { return has.Context == s.Context }) {
			found = append(found, s)
		}
	}
	return found
}

func combinedStatus(c *call) {
	example := c.example(200).(object)
	commit := c.r.PathValue("ref")
	item := example["statuses"].([]any)[0].(object)
	all := c.st.latest(commit)
	var found []any
	for _, s := range page(c, all) {
		found = append(found, c.statusJSON(copied(item).(object), s))
	}
	c.send(200, with(example, object{"sha": commit, "total_count": len(all), "statuses": append([]any{}, found...), "state": "pending", "repository": c.repository()}))
}

func (c *call) statusJSON(example object, s *Status) object {
	made := with(example, object{"id": s.ID, "context": s.Context, "state": s.State, "description": s.Description, "created_at": stamp(s.At), "updated_at": stamp(s.At), "target_url": nil})
	if s.Page != "" {
		made["target_url"] = s.Page
	}
	return made
}

func createStatus(c *call) {
	var asked struct {
		State, Context, Description string
		Page                        string `json:"target_url"`
	}
	c.decode(&asked)
	if len([]rune(asked.Description)) > 140 {
		c.refuse(422, "Validation Failed", object{"resource": "Status", "code": "custom", "message": "description is too long (maximum is 140 characters)"})
		return
	}
	made := &Status{ID: c.st.id(), Commit: c.r.PathValue("sha"), Context: asked.Context, State: asked.State, Description: asked.Description, Page: asked.Page, At: c.st.tick()}
	c.st.Statuses = append(c.st.Statuses, made)
	c.send(201, c.statusJSON(c.example(201).(object), made))
}

func (c *call) runJSON(example object, r *CheckRun) object {
	made := with(example, object{
		"id": r.ID, "name": r.Name, "head_sha": r.Commit, "status": r.Status, "conclusion": nil, "started_at": stamp(r.Started), "completed_at": nil,
		"external_id": r.External, "details_url": r.Details, "html_url": c.page("/runs/%d", r.ID), "output": object{"title": r.Title},
		"app": object{"id": r.App}, "pull_requests": []any{},
	})
	if r.Conclusion != "" {
		made["conclusion"] = r.Conclusion
	}
	if r.Completed != nil {
		made["completed_at"] = stamp(*r.Completed)
	}
	return made
}

// listCheckRuns leaves out older runs of a name and application, as its filter's default does within a suite.
func listCheckRuns(c *call) {
	example := c.example(200).(object)
	item := example["check_runs"].([]any)[0].(object)
	var found []any
	for _, r := range c.st.CheckRuns {
		if name := c.r.URL.Query().Get("check_name"); r.Commit == c.r.PathValue("ref") && (name == "" || name == r.Name) {
			found = append(found, c.runJSON(copied(item).(object), r))
		}
	}
	c.send(200, object{"total_count": len(found), "check_runs": page(c, found)})
}

// checkRequest is what creates and updates a check run.
type checkRequest struct {
	Name, Status, Conclusion string
	Head                     string     `json:"head_sha"`
	External                 string     `json:"external_id"`
	Details                  string     `json:"details_url"`
	Completed                *time.Time `json:"completed_at"`
	Output                   struct{ Title string }
}

func (q checkRequest) apply(r *CheckRun) {
	r.Status, r.Conclusion, r.Details, r.External, r.Title, r.Completed = q.Status, q.Conclusion, q.Details, q.External, q.Output.Title, q.Completed
}

func createCheckRun(c *call) {
	if c.account != Robot {
		c.refuse(403, "You must authenticate via a GitHub App.")
		return
	}
	var asked checkRequest
	c.decode(&asked)
	made := &CheckRun{ID: c.st.id(), Commit: asked.Head, Name: asked.Name, App: own, Started: c.st.tick()}
	asked.apply(made)
	c.st.CheckRuns = append(c.st.CheckRuns, made)
	c.send(201, c.runJSON(c.example(201).(object), made))
}

func updateCheckRun(c *call) {
	id, _ := strconv.ParseInt(c.r.PathValue("check_run_id"), 10, 64)
	at := slices.IndexFunc(c.st.CheckRuns, func(r *CheckRun) bool { return r.ID == id })
	if at < 0 || c.st.CheckRuns[at].App != own || c.account != Robot {
		c.refuse(403, "Invalid app_id `7` - check run can only be modified by the GitHub App that created it.")
		return
	}
	var asked checkRequest
	c.decode(&asked)
	asked.apply(c.st.CheckRuns[at])
	c.send(200, c.runJSON(c.example(200).(object), c.st.CheckRuns[at]))
}

// getProtection takes an administrator, as GitHub does.
func getProtection(c *call) {
	branch := c.r.PathValue("branch")
	switch protection := c.st.Protection[branch]; {
	case c.Head(branch) == "":
		c.refuse(404, "Branch not found")
	case c.account == Robot:
		c.refuse(403, "Resource not accessible by integration")
	case c.st.Permissions[c.account] != "admin":
		c.refuse(404, "Not Found")
	case protection == nil:
		c.refuse(404, "Branch not protected")
	default:
		c.send(200, with(object{"url": c.address("/branches/%s/protection", branch)}, protection))
	}
}

func getRules(c *call) {
	var found []any
	for _, rule := range c.st.Rules[c.r.PathValue("branch")] {
		found = append(found, with(object{"ruleset_id": 42, "ruleset_source": c.st.fullName(), "ruleset_source_type": "Repository"}, rule))
	}
	c.send(200, page(c, found))
}
