package github_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
)

func states(t *testing.T, driver *github.Server, commit string) map[string]forge.VerdictState {
	t.Helper()
	found := map[string]forge.VerdictState{}
	for _, v := range must(driver.Verdicts(t.Context(), commit))(t) {
		if _, twice := found[v.Name]; twice {
			t.Errorf("%s is there twice", v.Name)
		}
		found[v.Name] = v.State
	}
	return found
}

func TestVerdictsAreTheNewestOfExactlyThisCommit(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	commit, other := s.Head("main"), s.Commit("main", map[string]string{"a": "1"})
	s.With(func(st *githubtest.State) {
		at := st.Now
		status := func(of, context, state string) {
			st.Statuses = append(st.Statuses, &githubtest.Status{ID: int64(len(st.Statuses) + 1), Commit: of, Context: context, State: state, At: at})
		}
		run := func(app int64, of, name, state, conclusion string) {
			st.CheckRuns = append(st.CheckRuns, &githubtest.CheckRun{ID: int64(len(st.CheckRuns) + 1), Commit: of, Name: name, Status: state, Conclusion: conclusion, App: app, Started: at})
		}
		status(commit, "retried", "failure")
		status(commit, "retried", "success")
		status(commit, "waits", "pending")
		status(commit, "broke", "error")
		status(other, "elsewhere", "failure")
		run(1, commit, "again", "completed", "failure")
		run(1, commit, "again", "completed", "success")
		run(1, commit, "two apps", "completed", "failure")
		run(2, commit, "two apps", "completed", "success")
		status(commit, "both", "success")
		run(1, commit, "both", "in_progress", "")
		for conclusion := range strings.FieldsSeq("success neutral skipped failure cancelled timed_out action_required") {
			run(1, commit, conclusion, "completed", conclusion)
		}
		run(1, commit, "queued", "queued", "")
		run(1, other, "elsewhere too", "completed", "failure")
		run(1, commit, "listed late", "completed", "failure")
		older := st.CheckRuns[len(st.CheckRuns)-1]
		st.CheckRuns = append(st.CheckRuns[:len(st.CheckRuns)-1], &githubtest.CheckRun{ID: older.ID + 1, Commit: commit, Name: older.Name, Status: "completed", Conclusion: "success", App: 1, Started: at}, older)
	})
	want := map[string]forge.VerdictState{
		"retried": forge.Passed, "waits": forge.Pending, "broke": forge.Failed, "again": forge.Passed, "two apps": forge.Failed, "both": forge.Pending,
		"success": forge.Passed, "neutral": forge.Passed, "skipped": forge.Passed, "failure": forge.Failed, "cancelled": forge.Failed,
		"timed_out": forge.Failed, "action_required": forge.Failed, "queued": forge.Pending, "listed late": forge.Passed,
	}
	if got := states(t, driver, commit); !reflect.DeepEqual(got, want) {
		t.Errorf("the verdicts are %v, want %v", got, want)
	}
	if _, err := driver.Verdicts(t.Context(), "main"); err == nil {
		t.Error("a branch has verdicts")
	}
}

func TestVerdictsOfAllPagesCount(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	commit := s.Head("main")
	s.With(func(st *githubtest.State) {
		for i := range int64(230) {
			st.Statuses = append(st.Statuses, &githubtest.Status{ID: i + 1, Commit: commit, Context: fmt.Sprint("status ", i), State: "success", At: st.Now})
			st.CheckRuns = append(st.CheckRuns, &githubtest.CheckRun{ID: i + 1, Commit: commit, Name: fmt.Sprint("check ", i), Status: "completed", Conclusion: "success", App: 1, Started: st.Now})
		}
	})
	if got := states(t, driver, commit); len(got) != 460 {
		t.Errorf("there are %d verdicts, want 460", len(got))
	}
}

func TestATokenPublishesStatuses(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	commit := s.Head("main")
	long := strings.Repeat("é", 200)
	ok(t, driver.Publish(t.Context(), commit, forge.Verdict{Name: "signalbox/test", State: forge.Pending, Summary: long, Page: "https://example.org/1"}))
	ok(t, driver.Publish(t.Context(), commit, forge.Verdict{Name: "signalbox/test", State: forge.Failed, Summary: "2 of 3 passed"}))
	got := must(driver.Verdicts(t.Context(), commit))(t)
	if len(got) != 1 || got[0].State != forge.Failed || got[0].Summary != "2 of 3 passed" {
		t.Errorf("the verdicts are %+v", got)
	}
	if err := driver.Publish(t.Context(), "main", forge.Verdict{Name: "x"}); err == nil {
		t.Error("a branch was given a status")
	}
}

func TestAnAppPublishesOneCheckRun(t *testing.T) {
	t.Parallel()
	s, driver := startApp(t)
	commit := s.Head("main")
	for _, v := range []forge.Verdict{
		{Name: "signalbox/test", State: forge.Pending, Page: "https://example.org/1"},
		{Name: "signalbox/test", State: forge.Passed, Summary: "3 of 3 passed", At: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)},
	} {
		ok(t, driver.Publish(t.Context(), commit, v))
	}
	if got := must(driver.Verdicts(t.Context(), commit))(t); len(got) != 1 || got[0].State != forge.Passed || got[0].Summary != "3 of 3 passed" {
		t.Errorf("the verdicts are %+v", got)
	}
	s.With(func(st *githubtest.State) {
		if len(st.CheckRuns) != 1 || len(st.Statuses) != 0 {
			t.Errorf("there are %d check runs and %d statuses", len(st.CheckRuns), len(st.Statuses))
		}
	})
}

func TestALogIsTheEndOfWhatTheFailedStepsPrinted(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	step := func(name, conclusion string, from, to time.Duration) githubtest.Step {
		at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
		return githubtest.Step{Name: name, Conclusion: conclusion, Began: at.Add(from), Ended: at.Add(to)}
	}
	job := s.Job(s.Head("main"), "test", "failure", githubtest.Job{
		Steps: []githubtest.Step{step("Set up job", "success", 0, 0), step("Run make", "failure", 0, 5*time.Second), step("Post checkout", "success", 5*time.Second, 6*time.Second)},
		Log:   "2026-11-25T12:00:00.1Z Runner\n2026-11-25T12:00:00.2Z ##[group]Run make\n" + strings.Repeat("2026-11-25T12:00:03.0Z noise\n", 60_000) + "2026-11-25T12:00:04.0Z FAIL: the end\n2026-11-25T12:00:06.0Z bye\n",
	})
	page := must(driver.Verdicts(t.Context(), s.Head("main")))(t)[0].Page
	if got := must(driver.Log(t.Context(), forge.Verdict{Name: "test", Page: page}, 22))(t); !reflect.DeepEqual(got, []forge.StepLog{{Step: "Run make", Text: "…noise\nFAIL: the end"}}) {
		t.Errorf("the log is %q", got)
	}
	for _, elsewhere := range []string{
		"", "https://ci.example.org/77", s.URL + fmt.Sprintf("/other/one/actions/runs/5/job/%d", job), page + "/../78", s.URL + "/octo-org/engine/actions/runs/5/job/78", "x" + page,
	} {
		_, err := driver.Log(t.Context(), forge.Verdict{Name: "test", Page: elsewhere}, 20)
		if wantIs(t, err, forge.ErrNotFound); err != nil && strings.Contains(err.Error(), "sig=") {
			t.Errorf("the error has a signed address: %v", err)
		}
	}
}

func TestOnlyJobsOfTheCommitAreRunsOfTheCI(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	commit, other := s.Head("main"), s.Commit("topic", nil)
	s.Job(other, "elsewhere", "failure", githubtest.Job{})
	elsewhere := must(driver.Verdicts(t.Context(), other))(t)
	s.Job(commit, "passed", "success", githubtest.Job{})
	job := s.Job(commit, "test", "timed_out", githubtest.Job{})
	var run int64
	s.With(func(st *githubtest.State) {
		run = st.Jobs[job].Run
		st.CheckRuns = append(st.CheckRuns, &githubtest.CheckRun{ID: 1, Commit: commit, Name: "of an app", Status: "completed", Conclusion: "failure", App: 1, Started: st.Now, Details: "https://ci.example.org/1"})
	})
	want := func(want ...forge.CIRun) {
		t.Helper()
		if got := must(driver.CIRuns(t.Context(), commit, append(must(driver.Verdicts(t.Context(), commit))(t), elsewhere...)))(t); !reflect.DeepEqual(got, want) {
			t.Errorf("the runs are %+v, want %+v", got, want)
		}
	}
	want(forge.CIRun{ID: run, Failed: []string{"test"}, Attempts: 1})
	s.Job(commit, "beside", "", githubtest.Job{Run: run})
	want(forge.CIRun{ID: run, Failed: []string{"test"}, Attempts: 1, Busy: true})
	if err := driver.Rerun(t.Context(), forge.CIRun{ID: run}); err == nil {
		t.Error("it ran again, though it may not")
	}
	s.EndJob("beside", "success")
	ok(t, driver.Rerun(t.Context(), forge.CIRun{ID: run}))
	s.EndJob("test", "success")
	want(forge.CIRun{ID: run, Failed: []string{"test"}, Attempts: 2})
}
