package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Note is a comment.
type Note struct {
	ID int64
	// Pull: it is on a merge request. Number is that of the issue or merge request.
	Pull         bool
	Number       int
	Author, Body string
	// System: GitLab wrote it. Internal: members alone see it.
	System, Internal bool
	// Type is DiffNote for one on lines. Discussion has its notes under one name.
	Type, Discussion string
	Resolved         bool
	// Head and Line are where it is in a change, in file Path.
	Head, Path       string
	Line             int
	Awards           []string
	Created, Updated time.Time
}

// Note writes a note as someone. The number is an issue's.
func (s *Server) Note(number int, author, body string) (id int64) {
	s.With(func(st *State) { id = st.note(Note{Number: number, Author: author, Body: body}).ID })
	return id
}

// Add adds a note with everything it has.
func (s *Server) Add(n Note) (id int64) {
	s.With(func(st *State) { id = st.note(n).ID })
	return id
}

func (st *State) note(n Note) *Note {
	now := st.tick()
	n.ID, n.Created, n.Updated = st.id(), now, now
	if n.Discussion == "" {
		n.Discussion = fmt.Sprintf("%040x", n.ID)
	}
	st.Notes = append(st.Notes, &n)
	if i := st.Issues[n.Number]; !n.Pull && i != nil {
		i.Updated = now
	}
	if m := st.Merges[n.Number]; n.Pull && m != nil {
		m.Updated = now
	}
	return &n
}

func (c *call) noteJSON(n *Note) object {
	made := object{
		"id": n.ID, "type": nil, "body": n.Body, "author": c.user(n.Author), "system": n.System, "created_at": stamp(n.Created), "updated_at": stamp(n.Updated),
		"noteable_iid": n.Number, "noteable_type": map[bool]string{false: "Issue", true: "MergeRequest"}[n.Pull], "project_id": 7, "resolvable": n.Type == "DiffNote",
		"internal": n.Internal, "confidential": n.Internal,
	}
	delete(made["author"].(object), "bot")
	if n.Type != "" {
		made["type"], made["resolved"] = n.Type, n.Resolved
		made["position"] = object{"base_sha": n.Head, "start_sha": n.Head, "head_sha": n.Head, "position_type": "text", "new_path": n.Path, "old_path": n.Path, "new_line": n.Line, "old_line": nil}
	}
	return made
}

// about reports whether the path's issue or merge request is there, and which it is.
func (c *call) about() (pull bool, number int, ok bool) {
	number = c.number("p3")
	pull = strings.Contains(c.r.URL.Path, "/merge_requests/")
	if pull {
		_, ok = c.st.Merges[number]
	} else {
		_, ok = c.st.Issues[number]
	}
	if !ok {
		c.lacks("Noteable")
	}
	return pull, number, ok
}

func listNotes(c *call) {
	pull, number, ok := c.about()
	if !ok {
		return
	}
	var found []any
	for _, n := range c.st.Notes {
		if n.Pull == pull && n.Number == number {
			found = append(found, c.noteJSON(n))
		}
	}
	if c.r.URL.Query().Get("sort") != "asc" {
		slices.Reverse(found)
	}
	c.list(found)
}

func createNote(c *call) {
	pull, number, ok := c.about()
	if !ok {
		return
	}
	var asked struct{ Body string }
	c.decode(&asked)
	c.send(http.StatusCreated, c.noteJSON(c.st.note(Note{Pull: pull, Number: number, Author: c.account, Body: asked.Body})))
}

// note finds a note by the path. Its number alone is not enough.
func (c *call) note() *Note {
	pull, number, ok := c.about()
	if !ok {
		return nil
	}
	i := slices.IndexFunc(c.st.Notes, func(n *Note) bool { return n.Pull == pull && n.Number == number && n.ID == int64(c.number("p5")) })
	if i < 0 {
		c.lacks("Note")
		return nil
	}
	return c.st.Notes[i]
}

func editNote(c *call) {
	n := c.note()
	if n == nil {
		return
	}
	var asked struct{ Body string }
	c.decode(&asked)
	c.st.Now = c.st.Now.Add(5 * time.Second)
	n.Body, n.Updated = asked.Body, c.st.Now
	c.send(http.StatusOK, c.noteJSON(n))
}

func award(c *call) {
	n := c.note()
	if n == nil {
		return
	}
	var asked struct{ Name string }
	c.decode(&asked)
	given := c.account + " " + asked.Name
	if slices.Contains(n.Awards, given) {
		c.refuse(http.StatusNotFound, "404 Award Emoji Name has already been taken Not Found")
		return
	}
	n.Awards = append(n.Awards, given)
	c.send(http.StatusCreated, object{"id": c.st.id(), "name": asked.Name, "user": c.user(c.account), "awardable_id": n.ID, "awardable_type": "Note"})
}

func (c *call) discussionJSON(id string) object {
	var notes []any
	for _, n := range c.st.Notes {
		if n.Discussion == id {
			notes = append(notes, c.noteJSON(n))
		}
	}
	return object{"id": id, "individual_note": len(notes) == 1 && notes[0].(object)["type"] == nil, "notes": notes}
}

func listDiscussions(c *call) {
	_, number, ok := c.about()
	if !ok {
		return
	}
	var found []any
	seen := map[string]bool{}
	for _, n := range c.st.Notes {
		if n.Pull && n.Number == number && !seen[n.Discussion] {
			seen[n.Discussion] = true
			found = append(found, c.discussionJSON(n.Discussion))
		}
	}
	c.list(found)
}

func (c *call) discussion() *Note {
	i := slices.IndexFunc(c.st.Notes, func(n *Note) bool {
		return n.Pull && n.Number == c.number("p3") && n.Discussion == c.r.PathValue("p5")
	})
	if i < 0 {
		c.lacks("Discussion")
		return nil
	}
	return c.st.Notes[i]
}

func answerDiscussion(c *call) {
	first := c.discussion()
	if first == nil {
		return
	}
	var asked struct{ Body string }
	c.decode(&asked)
	answer := *first
	answer.Author, answer.Body, answer.Awards = c.account, asked.Body, nil
	c.send(http.StatusCreated, c.noteJSON(c.st.note(answer)))
}

func resolveDiscussion(c *call) {
	first := c.discussion()
	if first == nil {
		return
	}
	var asked struct{ Resolved bool }
	c.decode(&asked)
	for _, n := range c.st.Notes {
		if n.Discussion == first.Discussion {
			n.Resolved = asked.Resolved
		}
	}
	c.send(http.StatusOK, c.discussionJSON(first.Discussion))
}
