package gitlab_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab/gitlabtest"
)

func verdicts(all []forge.Verdict) string {
	var parts []string
	for _, v := range all {
		parts = append(parts, v.Name+" "+string(v.State))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func TestVerdictsAreTheNewestOfEachNameOfExactlyTheCommit(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	commit, other := s.Head("main"), s.Commit("topic", map[string]string{"a": "1"})
	s.Job(gitlabtest.Status{SHA: commit, Name: "test", State: "failed"})
	again := s.Job(gitlabtest.Status{SHA: commit, Name: "test", State: "success"})
	s.Job(gitlabtest.Status{SHA: other, Name: "other", State: "failed"})
	for state, want := range map[string]string{"created": "pending", "waiting_for_resource": "pending", "running": "pending", "scheduled": "pending", "manual": "pending",
		"success": "passed", "skipped": "passed", "failed": "failed", "canceled": "failed", "canceling": "failed", "of_the_future": "pending"} {
		s.Job(gitlabtest.Status{SHA: commit, Name: state, State: state, Description: "it is " + state, Page: "https://ci.example.org/" + state})
		got := must(driver.Verdicts(t.Context(), commit))(t)
		i := slices.IndexFunc(got, func(v forge.Verdict) bool { return v.Name == state })
		if i < 0 || string(got[i].State) != want || got[i].Summary != "it is "+state || got[i].Page != "https://ci.example.org/"+state {
			t.Errorf("%s: the verdicts are %+v", state, got)
		}
		s.With(func(st *gitlabtest.State) { st.Statuses = st.Statuses[:3] })
	}
	s.Job(gitlabtest.Status{SHA: commit, Name: "may fail", State: "failed", AllowFailure: true})
	s.Job(gitlabtest.Status{SHA: commit, Name: "by hand", State: "manual", AllowFailure: true})
	got := must(driver.Verdicts(t.Context(), commit))(t)
	if verdicts(got) != "by hand passed, may fail passed, test passed" {
		t.Errorf("the verdicts are %s", verdicts(got))
	}
	if page := fmt.Sprintf("%s/%s/-/jobs/%d", s.URL, gitlabtest.Path, again); got[0].Page != page {
		t.Errorf("the job's page is %q, want %q", got[0].Page, page)
	}
	if got := must(driver.Verdicts(t.Context(), strings.Repeat("a", 40)))(t); len(got) != 0 {
		t.Errorf("an unknown commit has %+v", got)
	}
	if _, err := driver.Verdicts(t.Context(), "main"); err == nil {
		t.Error("a branch was taken for a commit")
	}
}

func TestThePipelineCountsOnlyForItsCommit(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	base := s.Head("main")
	p := propose(t, s, driver, "topic")
	s.Commit("main", map[string]string{"b": "1"})
	merge := func(parents ...string) string {
		args := []string{"commit-tree", "main^{tree}"}
		for _, parent := range parents {
			args = append(args, "-p", parent)
		}
		return s.MustRun("merge", args...)
	}
	of, another := merge(s.Head("main"), p.Head), merge(s.Head("main"), base)
	for name, c := range map[string]struct {
		pipeline gitlabtest.Pipeline
		job      string
		want     string
	}{
		"of the head":            {gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "running"}, "", "GitLab pipeline pending"},
		"of an older head":       {gitlabtest.Pipeline{SHA: base, Ref: "topic", Status: "success"}, "", ""},
		"of its merge":           {gitlabtest.Pipeline{SHA: of, Ref: "refs/merge-requests/1/merge", Status: "failed"}, "failed", "GitLab pipeline failed, test failed"},
		"of another merge":       {gitlabtest.Pipeline{SHA: another, Ref: "refs/merge-requests/1/merge", Status: "success"}, "success", ""},
		"of a missing merge":     {gitlabtest.Pipeline{SHA: strings.Repeat("a", 40), Ref: "refs/merge-requests/1/merge", Status: "success"}, "success", ""},
		"skipped":                {gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "skipped"}, "", "GitLab pipeline failed"},
		"blocked by a job":       {gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "manual"}, "", "GitLab pipeline pending"},
		"passed":                 {gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "success"}, "", "GitLab pipeline passed"},
		"a word of the future":   {gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "dreaming"}, "", "GitLab pipeline pending"},
		"as branch of that name": {gitlabtest.Pipeline{SHA: base, Ref: "some/merge", Status: "success"}, "", ""},
	} {
		s.With(func(st *gitlabtest.State) { st.Pipelines = nil })
		id := s.Pipeline(c.pipeline, p.Number)
		if c.job != "" {
			s.Job(gitlabtest.Status{SHA: c.pipeline.SHA, Name: "test", State: c.job, Pipeline: id})
		}
		if got := must(driver.Verdicts(t.Context(), p.Head))(t); verdicts(got) != c.want {
			t.Errorf("%s: the verdicts are %q, want %q", name, verdicts(got), c.want)
		}
	}
	s.With(func(st *gitlabtest.State) { st.Settings["allow_merge_on_skipped_pipeline"] = true })
	s.With(func(st *gitlabtest.State) { st.Pipelines = nil })
	s.Pipeline(gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "skipped"}, p.Number)
	if got := must(driver.Verdicts(t.Context(), p.Head))(t); verdicts(got) != "GitLab pipeline passed" {
		t.Errorf("a skipped one that may be is %q", verdicts(got))
	}
}

// As soon as anyone reports a status, GitLab shows a pipeline of statuses first. It must not hide the project's own, which may have failed.
func TestAPipelineOfStatusesHidesNoOther(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	s.Commit("main", map[string]string{"b": "1"})
	merge := s.MustRun("merge", "commit-tree", "main^{tree}", "-p", "main", "-p", p.Head)
	id := s.Pipeline(gitlabtest.Pipeline{SHA: merge, Ref: "refs/merge-requests/1/merge", Source: "merge_request_event", Status: "failed"}, p.Number)
	s.Job(gitlabtest.Status{SHA: merge, Name: "test", State: "failed", Pipeline: id})
	s.Job(gitlabtest.Status{SHA: p.Head, Name: "theirs", State: "success"})
	s.Pipeline(gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Source: "external", Status: "success"}, p.Number)
	if got := must(driver.Verdicts(t.Context(), p.Head))(t); verdicts(got) != "GitLab pipeline failed, test failed, theirs passed" {
		t.Errorf("the verdicts are %q", verdicts(got))
	}
	s.With(func(st *gitlabtest.State) { st.Pipelines = st.Pipelines[1:] })
	if got := must(driver.Verdicts(t.Context(), p.Head))(t); verdicts(got) != "GitLab pipeline passed, theirs passed" {
		t.Errorf("with statuses alone, the verdicts are %q", verdicts(got))
	}
}

// GitLab puts statuses into the pipeline: what we report ourselves must not keep it from passing, nor make it pass.
func TestOurOwnStatusesAreNoPartOfThePipeline(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	ok(t, driver.Publish(t.Context(), p.Head, forge.Verdict{Name: forge.VerdictApproval, State: forge.Pending}))
	id := s.Pipeline(gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "running"}, p.Number)
	want := func(want string) {
		t.Helper()
		if got := must(driver.Verdicts(t.Context(), p.Head))(t); verdicts(got) != want {
			t.Errorf("the verdicts are %q, want %q", verdicts(got), want)
		}
	}
	want("signalbox/approval pending")
	s.With(func(st *gitlabtest.State) { st.Pipelines[0].Status = "success" })
	want("signalbox/approval pending")
	s.Job(gitlabtest.Status{SHA: p.Head, Name: "test", State: "success", Pipeline: id})
	want("GitLab pipeline passed, signalbox/approval pending, test passed")
	s.Job(gitlabtest.Status{SHA: p.Head, Name: "lint", State: "created", Pipeline: id})
	want("GitLab pipeline pending, lint pending, signalbox/approval pending, test passed")
	s.Job(gitlabtest.Status{SHA: p.Head, Name: "lint", State: "failed", Pipeline: id})
	want("GitLab pipeline failed, lint failed, signalbox/approval pending, test passed")
}

func TestAStatusIsPublishedOnce(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	commit := s.Head("main")
	for _, v := range []forge.Verdict{{State: forge.Pending}, {State: forge.Pending}, {State: forge.Failed, Summary: "no"}, {State: forge.Passed, Page: "https://example.org/"}, {State: forge.Passed}} {
		v.Name = "signalbox"
		ok(t, driver.Publish(t.Context(), commit, v))
	}
	got := must(driver.Verdicts(t.Context(), commit))(t)
	if len(got) != 1 || got[0].State != forge.Passed || got[0].Page != "https://example.org/" {
		t.Errorf("the verdicts are %+v", got)
	}
}

func TestTheEndOfAJobsLogIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	var shown []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.Header.Get("Private-Token")+r.Header.Get("Authorization"))
		_, _ = w.Write([]byte("stored"))
	}))
	defer elsewhere.Close()
	page := s.URL + "/" + gitlabtest.Path + "/-/jobs/"
	s.With(func(st *gitlabtest.State) {
		st.Logs[1], st.Logs[2], st.Logs[3] = strings.Repeat("x", 100_000)+"the end\xff", s.URL+"/stored", elsewhere.URL
	})
	if got := must(driver.Log(t.Context(), forge.Verdict{Page: page + "1"}, 10))(t); len(got) != 1 || got[0].Text != "…the end\uFFFD" {
		t.Errorf("the log ends with %q", got)
	}
	s.Inject(gitlabtest.Fault{Path: "/stored", Status: 200, Body: "kept here"})
	if got := must(driver.Log(t.Context(), forge.Verdict{Page: page + "2"}, 100))(t); len(got) != 1 || got[0].Text != "kept here" {
		t.Errorf("the stored log is %q", got)
	}
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.Line, "/stored") && strings.TrimPrefix(r.Token, "Bearer ") != "" {
			t.Errorf("the store was shown %q", r.Token)
		}
	}
	if got, err := driver.Log(t.Context(), forge.Verdict{Page: page + "3"}, 100); err == nil || len(shown) > 0 {
		t.Errorf("a log was read without https: %q, and the place was shown %q", got, shown)
	}
	for _, none := range []string{"", page + "99", page + "1/raw", "https://example.org/octo/tools/engine/-/jobs/1", s.URL + "/octo/other/-/jobs/1"} {
		_, err := driver.Log(t.Context(), forge.Verdict{Page: none}, 8)
		wantIs(t, err, forge.ErrNotFound)
	}
}

func TestTheLogOfAPipelineIsThatOfItsFailedJobs(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	id := s.Pipeline(gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "failed"}, p.Number)
	for _, job := range []gitlabtest.Status{{Name: "test", State: "failed"}, {Name: "may fail", State: "failed", AllowFailure: true}, {Name: "lint", State: "success"}, {Name: "gone", State: "failed"}} {
		job.SHA, job.Pipeline = p.Head, id
		number := s.Job(job)
		if job.Name != "gone" {
			s.With(func(st *gitlabtest.State) { st.Logs[number] = job.Name + " says no" })
		}
	}
	all := must(driver.Verdicts(t.Context(), p.Head))(t)
	got := must(driver.Log(t.Context(), all[len(all)-1], 100))(t)
	if all[len(all)-1].Name != "GitLab pipeline" || len(got) != 1 || got[0] != (forge.StepLog{Step: "test", Text: "test says no"}) {
		t.Errorf("the log of %+v is %+v", all[len(all)-1], got)
	}
}

func TestWhatFailedFirstIsFoundByItsJobOrItsPipeline(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	id := s.Pipeline(gitlabtest.Pipeline{SHA: p.Head, Ref: "topic", Status: "failed"}, p.Number)
	job := func(name, state string, of int64) int64 {
		return s.Job(gitlabtest.Status{SHA: p.Head, Name: name, State: state, Pipeline: of, AllowFailure: name == "may fail"})
	}
	test, lint := job("test", "failed", id), job("lint", "failed", id)
	job("passed", "success", id)
	job("may fail", "failed", id)
	s.Job(gitlabtest.Status{SHA: p.Head, Name: "of an app", State: "failed", Page: "https://ci.example.org/1"})
	want := func(names string, want ...forge.CIRun) {
		t.Helper()
		all := slices.DeleteFunc(must(driver.Verdicts(t.Context(), p.Head))(t), func(v forge.Verdict) bool { return !strings.Contains(names, v.Name) })
		if got := must(driver.CIRuns(t.Context(), p.Head, all))(t); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the runs of %s are %+v, want %+v", names, got, want)
		}
	}
	want("test, passed, may fail, of an app", forge.CIRun{ID: test, Failed: []string{"test"}, Attempts: 1})
	want("GitLab pipeline", forge.CIRun{ID: test, Failed: []string{"test"}, Attempts: 1}, forge.CIRun{ID: lint, Failed: []string{"lint"}, Attempts: 1})
	want("of an app")
	ok(t, driver.Rerun(t.Context(), forge.CIRun{ID: test}))
	if err := driver.Rerun(t.Context(), forge.CIRun{ID: test}); err == nil {
		t.Error("it ran again, though it may not")
	}
	var again int64
	s.With(func(st *gitlabtest.State) { again = st.Statuses[len(st.Statuses)-1].ID })
	want("test, lint", forge.CIRun{ID: lint, Failed: []string{"lint"}, Attempts: 1}, forge.CIRun{ID: again, Failed: []string{"test"}, Attempts: 2, Busy: true})
}
