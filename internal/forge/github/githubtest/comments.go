package githubtest

import (
	"slices"
	"strconv"
	"strings"
)

// labelsOf are those of an issue or pull request.
func (c *call) labelsOf() *[]string {
	number := c.number("issue_number")
	if p, ok := c.st.Pulls[number]; ok {
		return &p.Labels
	}
	if i, ok := c.found(); ok {
		return &i.Labels
	}
	return nil
}

func addLabels(c *call) {
	labels := c.labelsOf()
	if labels == nil {
		return
	}
	var asked struct{ Labels []string }
	c.decode(&asked)
	for _, name := range asked.Labels {
		if !slices.Contains(*labels, name) {
			*labels = append(*labels, name)
		}
	}
	c.send(200, c.labels(*labels))
}

func removeLabel(c *call) {
	labels := c.labelsOf()
	if labels == nil {
		return
	}
	at := slices.IndexFunc(*labels, func(has string) bool { return strings.EqualFold(has, c.r.PathValue("name")) })
	if at < 0 {
		c.refuse(404, "Label does not exist")
		return
	}
	*labels = slices.Delete(*labels, at, at+1)
	c.send(200, c.labels(*labels))
}

func (c *call) commentJSON(example object, of *Comment) object {
	made := with(example, object{
		"id": of.ID, "node_id": "IC_" + strconv.FormatInt(of.ID, 10), "body": of.Body, "user": user(of.Author),
		"created_at": stamp(of.Created), "updated_at": stamp(of.Updated), "issue_url": c.address("/issues/%d", of.Number),
		"url": c.address("/issues/comments/%d", of.ID), "html_url": c.page("/issues/%d#issuecomment-%d", of.Number, of.ID),
	})
	delete(made, "pin")
	delete(made, "minimized")
	if of.Via != "" {
		made["performed_via_github_app"] = with(c.appExample(), object{"slug": of.Via, "name": of.Via})
	}
	return made
}

// exists reports whether the number is an issue's or a pull request's, or answers that it is not.
func (c *call) exists() bool {
	if _, ok := c.st.Pulls[c.number("issue_number")]; ok {
		return true
	}
	_, ok := c.found()
	return ok
}

func listComments(c *call) {
	if !c.exists() {
		return
	}
	var found []any
	for _, of := range c.st.Comments {
		if of.Number == c.number("issue_number") {
			found = append(found, c.commentJSON(c.element(200), of))
		}
	}
	c.send(200, page(c, found))
}

func createComment(c *call) {
	if !c.exists() {
		return
	}
	var asked struct{ Body string }
	c.decode(&asked)
	if len(asked.Body) > 65536 {
		c.refuse(422, "Validation Failed", object{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"})
		return
	}
	now := c.st.tick()
	made := &Comment{ID: c.st.id(), Number: c.number("issue_number"), Author: c.account, Body: asked.Body, Created: now, Updated: now}
	c.st.Comments = append(c.st.Comments, made)
	c.st.touch(made.Number, now)
	c.send(201, c.commentJSON(c.example(201).(object), made))
}

// listEvents is the history of an issue, as far as labels and titles go.
func listEvents(c *call) {
	i, ok := c.found()
	if !ok {
		return
	}
	var found []any
	for _, l := range i.Labelings {
		example := c.element(200)
		made := with(example, object{"id": l.ID, "event": "labeled", "actor": user(l.By), "label": object{"name": l.Label, "color": "ededed"},
			"created_at": stamp(l.At), "commit_id": nil, "commit_url": nil, "performed_via_github_app": nil})
		if l.Via != "" {
			made["performed_via_github_app"] = with(c.appExample(), object{"slug": l.Via, "name": l.Via})
		}
		found = append(found, made)
	}
	for n, at := range i.Renamed {
		found = append(found, with(c.element(200), object{"id": 7_000 + n, "event": "renamed", "actor": user(i.Author), "rename": object{"from": "before", "to": i.Title},
			"created_at": stamp(at), "commit_id": nil, "commit_url": nil, "performed_via_github_app": nil}))
	}
	c.send(200, page(c, found))
}

func (c *call) comment() *Comment {
	id, _ := strconv.ParseInt(c.r.PathValue("comment_id"), 10, 64)
	at := slices.IndexFunc(c.st.Comments, func(has *Comment) bool { return has.ID == id })
	if at < 0 {
		c.refuse(404, "Not Found")
		return nil
	}
	return c.st.Comments[at]
}

func getComment(c *call) {
	if of := c.comment(); of != nil {
		c.send(200, c.commentJSON(c.example(200).(object), of))
	}
}

func editComment(c *call) {
	of := c.comment()
	if of == nil {
		return
	}
	var asked struct{ Body string }
	c.decode(&asked)
	of.Body, of.Updated = asked.Body, c.st.tick()
	c.send(200, c.commentJSON(c.example(200).(object), of))
}

func react(c *call) {
	of := c.comment()
	if of == nil {
		return
	}
	var asked struct{ Content string }
	c.decode(&asked)
	status := 200
	if mark := c.account + " " + asked.Content; !slices.Contains(of.Reactions, mark) {
		of.Reactions, status = append(of.Reactions, mark), 201
	}
	c.send(status, with(c.example(status).(object), object{"content": asked.Content, "user": user(c.account)}))
}
