package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Status is a job, or what an application reported. Pipeline is its pipeline's number.
type Status struct {
	ID                                  int64
	SHA, Name, State, Description, Page string
	AllowFailure                        bool
	Pipeline                            int64
}

// Pipeline is one run of the project's CI.
type Pipeline struct {
	ID                       int64
	SHA, Ref, Status, Source string
	// Merge is the number of its merge request.
	Merge int
}

// Job adds a job or a status, and returns its number.
func (s *Server) Job(st Status) int64 {
	s.With(func(state *State) {
		st.ID = state.id()
		state.Statuses = append(state.Statuses, &st)
	})
	return st.ID
}

// Pipeline adds one, as the newest of a merge request.
func (s *Server) Pipeline(p Pipeline, mergeRequest int) int64 {
	s.With(func(state *State) {
		p.ID, p.Merge = state.id(), mergeRequest
		state.Pipelines = append(state.Pipelines, &p)
		if m := state.Merges[mergeRequest]; m != nil {
			m.Pipeline = p.ID
		}
	})
	return p.ID
}

func (c *call) pipelineJSON(p *Pipeline) object {
	return object{"id": p.ID, "sha": p.SHA, "ref": p.Ref, "source": p.Source, "status": p.Status, "web_url": fmt.Sprintf("%s/%s/-/pipelines/%d", c.URL, Path, p.ID), "updated_at": stamp(c.st.Now)}
}

// listPipelines lists those of a merge request. It tells less of each than what is asked for one.
func listPipelines(c *call) {
	number, m := c.merge("p3")
	if m == nil {
		return
	}
	var found []any
	for _, p := range c.st.Pipelines {
		if p.Merge == number {
			found = append([]any{c.pipelineJSON(p)}, found...)
		}
	}
	c.list(found)
}

func (c *call) commit() string {
	sha := c.r.PathValue("p4")
	if _, err := c.Run("", "cat-file", "-e", sha+"^{commit}"); err != nil {
		c.lacks("Commit")
		return ""
	}
	return sha
}

func getCommit(c *call) {
	if sha := c.commit(); sha != "" {
		c.send(http.StatusOK, object{"id": sha, "parent_ids": strings.Fields(c.MustRun("", "log", "-1", "--format=%P", sha))})
	}
}

func listStatuses(c *call) {
	sha := c.commit()
	if sha == "" {
		return
	}
	var found []any
	for _, st := range c.st.Statuses {
		if st.SHA == sha {
			page := any(nil)
			if st.Page != "" {
				page = st.Page
			}
			found = append(found, object{"id": st.ID, "sha": sha, "name": st.Name, "status": st.State, "description": st.Description, "target_url": page,
				"allow_failure": st.AllowFailure, "created_at": stamp(c.st.Now), "finished_at": nil})
		}
	}
	c.list(found)
}

func (c *call) jobJSON(st *Status) object {
	return object{"id": st.ID, "name": st.Name, "status": st.State, "allow_failure": st.AllowFailure, "created_at": stamp(c.st.Now),
		"web_url": fmt.Sprintf("%s/%s/-/jobs/%d", c.URL, Path, st.ID), "commit": object{"id": st.SHA}, "pipeline": object{"id": st.Pipeline, "sha": st.SHA}}
}

// retried reports whether a job was run again, as a newer one.
func (st *State) retried(job *Status) bool {
	return slices.ContainsFunc(st.Statuses, func(s *Status) bool { return s.Pipeline == job.Pipeline && s.Name == job.Name && s.ID > job.ID })
}

// listJobs lists the jobs of a pipeline, without those that were run again unless they are asked for.
func listJobs(c *call) {
	query := c.r.URL.Query()
	var found []any
	for _, st := range c.st.Statuses {
		if st.Pipeline == int64(c.number("p3")) && (query.Get("scope[]") == "" || slices.Contains(query["scope[]"], st.State)) &&
			(query.Get("include_retried") == "true" || !c.st.retried(st)) {
			found = append(found, c.jobJSON(st))
		}
	}
	c.list(found)
}

func (c *call) job() *Status {
	i := slices.IndexFunc(c.st.Statuses, func(st *Status) bool { return st.ID == int64(c.number("p3")) && st.Pipeline != 0 })
	if i < 0 {
		c.lacks("Job")
		return nil
	}
	return c.st.Statuses[i]
}

func getProjectJob(c *call) {
	if st := c.job(); st != nil {
		c.send(http.StatusOK, c.jobJSON(st))
	}
}

func retryJob(c *call) {
	st := c.job()
	switch {
	case st == nil:
	case c.st.Levels[c.account] < 30:
		c.refuse(http.StatusForbidden, "403 Forbidden")
	case c.st.retried(st) || !slices.Contains([]string{"failed", "canceled", "success"}, st.State):
		c.refuse(http.StatusForbidden, "403 Forbidden - Job is not retryable")
	default:
		again := *st
		again.ID, again.State = c.st.id(), "pending"
		c.st.Statuses = append(c.st.Statuses, &again)
		for _, p := range c.st.Pipelines {
			if p.ID == st.Pipeline {
				p.Status = "running"
			}
		}
		c.send(http.StatusCreated, c.jobJSON(&again))
	}
}

func createStatus(c *call) {
	var asked struct {
		State, Name, Description string
		Page                     string `json:"target_url"`
	}
	c.decode(&asked)
	sha := c.r.PathValue("p3")
	i := slices.IndexFunc(c.st.Statuses, func(st *Status) bool { return st.SHA == sha && st.Name == asked.Name })
	switch {
	case i < 0:
		c.st.Statuses = append(c.st.Statuses, &Status{ID: c.st.id(), SHA: sha, Name: asked.Name})
		i = len(c.st.Statuses) - 1
	case c.st.Statuses[i].State == asked.State:
		c.refuse(http.StatusBadRequest, "Cannot transition status via :enqueue from :"+asked.State+" (Reason(s): Status cannot transition via \"enqueue\")")
		return
	}
	st := c.st.Statuses[i]
	st.State, st.Description, st.Page = asked.State, asked.Description, asked.Page
	c.send(http.StatusCreated, object{"id": st.ID, "sha": sha, "name": st.Name, "status": st.State, "description": st.Description, "target_url": st.Page})
}

func getTrace(c *call) {
	text, ok := c.st.Logs[int64(c.number("p3"))]
	switch {
	case !ok:
		c.lacks("Job")
	case strings.HasPrefix(text, "http"):
		c.header.Set("Location", text)
		c.send(http.StatusFound, object{})
	default:
		c.send(http.StatusOK, text)
	}
}
