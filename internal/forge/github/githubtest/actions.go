package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// actions is the id of the application whose check runs are the jobs of Actions.
const actions = 15368

// Job is a job of Actions. Its check run has the same number.
type Job struct {
	Run   int64
	Steps []Step
	Log   string
	// attempt is the one of the run that it's of.
	attempt int
}

// Step is one of a job.
type Step struct {
	Name, Conclusion string
	Began, Ended     time.Time
}

// Run is what an event started: the jobs of one workflow on one commit.
type Run struct {
	Commit string
	// Attempt counts from 1.
	Attempt int
}

// Job adds a job that ended so, or runs if there is no conclusion, to a run on the commit, which is a new one if the job names none.
func (s *Server) Job(commit, name, conclusion string, j Job) (id int64) {
	s.With(func(st *State) {
		if j.Run == 0 {
			j.Run = st.id()
			st.Runs[j.Run] = &Run{Commit: commit, Attempt: 1}
		}
		id = s.job(commit, name, j)
		if conclusion != "" {
			st.end(id, conclusion)
		}
	})
	return id
}

func (s *Server) job(commit, name string, j Job) int64 {
	id := s.state.id()
	j.attempt = s.state.Runs[j.Run].Attempt
	s.state.Jobs[id] = &j
	s.state.CheckRuns = append(s.state.CheckRuns, &CheckRun{ID: id, Commit: commit, Name: name, Status: "in_progress", App: actions, Started: s.state.tick(),
		Details: fmt.Sprintf("%s/%s/actions/runs/%d/job/%d", s.URL, s.state.fullName(), j.Run, id)})
	return id
}

// EndJob ends the newest job of a name.
func (s *Server) EndJob(name, conclusion string) {
	s.With(func(st *State) {
		for _, r := range slices.Backward(st.CheckRuns) {
			if r.Name == name {
				st.end(r.ID, conclusion)
				return
			}
		}
	})
}

func (st *State) end(id int64, conclusion string) {
	for _, r := range st.CheckRuns {
		if r.ID == id {
			now := st.tick()
			r.Status, r.Conclusion, r.Completed = "completed", conclusion, &now
		}
	}
}

// jobsOf are the check runs of a run's jobs, the newest of each name.
func (st *State) jobsOf(run int64) (found []*CheckRun) {
	for _, r := range slices.Backward(st.CheckRuns) {
		if j := st.Jobs[r.ID]; j != nil && j.Run == run && !slices.ContainsFunc(found, func(has *CheckRun) bool { return has.Name == r.Name }) {
			found = append(found, r)
		}
	}
	return found
}

func (c *call) id(name string) int64 {
	id, _ := strconv.ParseInt(c.r.PathValue(name), 10, 64)
	return id
}

func getJob(c *call) {
	id := c.id("job_id")
	j := c.st.Jobs[id]
	if j == nil {
		c.refuse(404, "Not Found")
		return
	}
	steps := []any{}
	for i, s := range j.Steps {
		steps = append(steps, object{"name": s.Name, "number": i + 1, "status": "completed", "conclusion": s.Conclusion, "started_at": stamp(s.Began), "completed_at": stamp(s.Ended)})
	}
	c.send(200, with(c.example(200).(object), object{"id": id, "run_id": j.Run, "created_at": stamp(c.st.Now), "steps": steps}))
}

// listJobs lists the jobs of one attempt of a run.
func listJobs(c *call) {
	example := c.example(200).(object)
	item := example["jobs"].([]any)[0].(object)
	found := []any{}
	for _, r := range c.st.CheckRuns {
		if j := c.st.Jobs[r.ID]; j != nil && j.Run == c.id("run_id") && j.attempt == c.number("attempt_number") {
			job := with(copied(item).(object), object{"id": r.ID, "run_id": j.Run, "run_attempt": j.attempt, "name": r.Name, "head_sha": r.Commit, "status": r.Status,
				"conclusion": nil, "created_at": stamp(r.Started), "started_at": stamp(r.Started), "completed_at": nil})
			if r.Completed != nil {
				job["conclusion"], job["completed_at"] = r.Conclusion, stamp(*r.Completed)
			}
			found = append(found, job)
		}
	}
	c.send(200, object{"total_count": len(found), "jobs": page(c, found)})
}

// getLogs answers with an address in a store, which needs no token.
func getLogs(c *call) {
	id := c.id("job_id")
	if j := c.st.Jobs[id]; j == nil || j.Log == "" {
		c.refuse(404, "Not Found")
		return
	}
	c.header.Set("Location", fmt.Sprintf("%s/logs/%d?sig=secret", c.URL, id))
	c.send(http.StatusFound, nil)
}

func (s *Server) serveLog(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		s.t.Error("the store of logs was sent a token")
	}
	id, _ := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/logs/"), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = strings.NewReader(s.state.Jobs[id].Log).WriteTo(w)
}

// running reports whether a job of a run has not ended.
func (st *State) running(run int64) bool {
	return slices.ContainsFunc(st.jobsOf(run), func(r *CheckRun) bool { return r.Status != "completed" })
}

func getRun(c *call) {
	id := c.id("run_id")
	r := c.st.Runs[id]
	if r == nil {
		c.refuse(404, "Not Found")
		return
	}
	state := object{"id": id, "head_sha": r.Commit, "run_attempt": r.Attempt, "status": "completed", "conclusion": "failure"}
	if c.st.running(id) {
		state["status"], state["conclusion"] = "in_progress", nil
	}
	c.send(200, with(c.example(200).(object), state))
}

func rerunFailed(c *call) {
	id := c.id("run_id")
	r := c.st.Runs[id]
	switch {
	case r == nil:
		c.refuse(404, "Not Found")
	case !slices.Contains([]string{"write", "admin"}, c.st.Permissions[c.account]):
		c.refuse(403, "Must have admin rights to Repository.")
	case c.st.running(id):
		c.refuse(403, "This workflow is already running")
	default:
		r.Attempt++
		for _, job := range c.st.jobsOf(id) {
			if job.Conclusion != "success" && job.Conclusion != "skipped" {
				c.job(job.Commit, job.Name, Job{Run: id})
			}
		}
		c.send(201, object{})
	}
}
