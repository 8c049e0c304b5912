package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Issue is an issue of the project.
type Issue struct {
	Title, Body, Author string
	Labels              []string
	Closed              bool
	// MovedTo is the issue elsewhere that took its place; 0 if it did not move.
	MovedTo   int64
	Labelings []Labeling
	// BlockedBy are numbers of other issues; one that moved is in another project.
	BlockedBy []int
	// Parts are its child items.
	Parts            []int
	Created, Updated time.Time
}

// Labeling is one time that someone gave or took a label. Action is add or remove.
type Labeling struct {
	ID                int64
	By, Action, Label string
	At                time.Time
}

// Label adds or removes a label as someone.
func (s *Server) Label(number int, by, action, label string) {
	s.With(func(st *State) {
		i := st.Issues[number]
		i.Updated = st.tick()
		i.Labelings = append(i.Labelings, Labeling{st.id(), by, action, label, i.Updated})
		e := edits{Add: label}
		if action != "add" {
			e = edits{Remove: label}
		}
		i.Labels = e.labels(i.Labels)
	})
}

// Edit changes an issue's text, and notes it in these words.
func (s *Server) Edit(number int, title, body, note string) {
	s.With(func(st *State) {
		i := st.Issues[number]
		i.Title, i.Body = title, body
		st.note(Note{Number: number, Author: i.Author, Body: note, System: true})
	})
}

func listLabelings(c *call) {
	_, i := c.issue()
	if i == nil {
		return
	}
	var found []any
	for _, l := range i.Labelings {
		found = append(found, object{"id": l.ID, "user": c.user(l.By), "created_at": stamp(l.At), "resource_type": "Issue", "action": l.Action, "label": object{"id": 1, "name": l.Label}})
	}
	c.list(found)
}

// byUpdate sorts a list as it was asked to, and leaves out what did not change since.
func (c *call) byUpdate(found []any) []any {
	q := c.r.URL.Query()
	if q.Get("order_by") != "updated_at" {
		return found
	}
	at := func(of any) string { return of.(object)["updated_at"].(string) }
	slices.SortStableFunc(found, func(a, b any) int { return strings.Compare(at(a), at(b)) })
	if after, err := time.Parse(time.RFC3339Nano, q.Get("updated_after")); err == nil {
		found = slices.DeleteFunc(found, func(one any) bool { return at(one) < stamp(after) })
	}
	return found
}

// Issue opens an issue as a person, and returns its number.
func (s *Server) Issue(title, body string, labels ...string) (number int) {
	s.With(func(st *State) {
		now := st.tick()
		number = len(st.Issues) + 1
		st.Issues[number] = &Issue{Title: title, Body: body, Author: "grace", Labels: labels, Created: now, Updated: now}
	})
	return number
}

func (c *call) issueJSON(number int, i *Issue) object {
	made := object{
		"id": 5000 + number, "iid": number, "project_id": 7, "title": i.Title, "description": i.Body, "state": map[bool]string{false: "opened", true: "closed"}[i.Closed],
		"author": c.user(i.Author), "labels": append([]string{}, i.Labels...), "web_url": fmt.Sprintf("%s/%s/-/issues/%d", c.URL, Path, number),
		"created_at": stamp(i.Created), "updated_at": stamp(i.Updated), "moved_to_id": nil, "confidential": false, "issue_type": "issue", "milestone": nil,
	}
	if i.MovedTo != 0 {
		made["moved_to_id"] = i.MovedTo
	}
	return made
}

func (c *call) issue() (int, *Issue) {
	number := c.number("p3")
	i := c.st.Issues[number]
	if i == nil {
		c.lacks("Issue")
	}
	return number, i
}

func getIssue(c *call) {
	if number, i := c.issue(); i != nil {
		c.send(http.StatusOK, c.issueJSON(number, i))
	}
}

func listIssues(c *call) {
	q := c.r.URL.Query()
	var found []any
	for number := len(c.st.Issues); number > 0; number-- {
		i := c.st.Issues[number]
		state, author, text := q.Get("state"), q.Get("author_username"), q.Get("search")
		labelled := true
		for _, label := range strings.FieldsFunc(q.Get("labels"), func(r rune) bool { return r == ',' }) {
			labelled = labelled && slices.Contains(i.Labels, label)
		}
		if !labelled || state != "" && state != "all" && (state == "closed") != i.Closed || author != "" && author != i.Author || !strings.Contains(i.Title+i.Body, text) {
			continue
		}
		found = append(found, c.issueJSON(number, i))
	}
	c.list(c.byUpdate(found))
}

func listLinks(c *call) {
	_, i := c.issue()
	if i == nil {
		return
	}
	var found []any
	for _, number := range i.BlockedBy {
		made := c.issueJSON(number, c.st.Issues[number])
		delete(made, "moved_to_id")
		delete(made, "issue_type")
		made["link_type"], made["issue_link_id"] = "is_blocked_by", 1
		if c.st.Issues[number].MovedTo != 0 {
			made["web_url"] = fmt.Sprintf("%s/octo/other/-/issues/%d", c.URL, number)
		}
		found = append(found, made)
	}
	c.list(found)
}

func createIssue(c *call) {
	var asked struct{ Title, Description string }
	c.decode(&asked)
	if len(asked.Title) > 255 || asked.Title == "" {
		c.refuse(http.StatusBadRequest, object{"title": []string{"is too long (maximum is 255 characters)"}})
		return
	}
	now := c.st.tick()
	number := len(c.st.Issues) + 1
	c.st.Issues[number] = &Issue{Title: asked.Title, Body: asked.Description, Author: c.account, Created: now, Updated: now}
	c.send(http.StatusCreated, c.issueJSON(number, c.st.Issues[number]))
}

// edits are what issues and merge requests are changed by.
type edits struct {
	Title, Description *string
	Event              string  `json:"state_event"`
	Add                string  `json:"add_labels"`
	Remove             string  `json:"remove_labels"`
	Reviewers          []int64 `json:"reviewer_ids"`
}

func (e edits) labels(has []string) []string {
	for _, name := range strings.Split(e.Add, ",") {
		if name != "" && !slices.Contains(has, name) {
			has = append(has, name)
		}
	}
	return slices.DeleteFunc(has, func(name string) bool { return slices.Contains(strings.Split(e.Remove, ","), name) })
}

func editIssue(c *call) {
	number, i := c.issue()
	if i == nil {
		return
	}
	var asked edits
	c.decode(&asked)
	i.Closed, i.Labels, i.Updated = i.Closed || asked.Event == "close", asked.labels(i.Labels), c.st.tick()
	c.send(http.StatusOK, c.issueJSON(number, i))
}
