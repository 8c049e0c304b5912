package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

// contributing is a clone of someone who may only read the repository, and its forge.
func (at target) contributing(t *testing.T) (project string, f *hosted.Forge) {
	t.Helper()
	project = newProject(t, at)
	repo, err := git.Open(t.Context(), process.Host{}, project)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := store.Open(t.Context(), store.Config{Root: project})
	if err != nil {
		t.Fatal(err)
	}
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	half := local.New(local.Config{Repo: repo, Store: documents, Hosted: true,
		Test:  func(context.Context, local.Candidate) (local.Verdict, error) { return local.Verdict{Passed: true}, nil },
		Forks: func(_ context.Context, path string) (string, error) { return at.URL + "/" + path + ".git", nil }})
	return project, hosted.New(hosted.Config{Server: driver, Git: half, Store: documents, Fork: hosted.ForkCreate, Clock: time.Now})
}

// TestAContributorsChangeIsMergedByAMaintainer is the story of two people: one has no right to push, the other merges in the web page.
func TestAContributorsChangeIsMergedByAMaintainer(t *testing.T) {
	t.Parallel()
	owner := newTarget(t)
	person := "contributor-" + owner.Name
	at := owner
	var err error
	if at.Token, err = server.User(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	var issue struct{ Number int }
	owner.call(t, http.MethodPost, "/issues", map[string]any{"title": "Fix it", "body": "Please."}, &issue)
	project, f := at.contributing(t)
	if err := f.MayMerge(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	head := runGit(t, project, "commit-tree", "main^{tree}", "-p", "main", "-m", "A change")
	change := forge.PullRequest{Key: "run-1", Request: fmt.Sprint(issue.Number), Title: "A change", Branch: "signalbox/1-a-change", Base: "main", Head: head}
	evil := at.imitate(t, change)
	pr, err := f.OpenPullRequest(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	if pr.Fork != person+"/"+at.Name || pr.Number == evil {
		t.Fatalf("opened %+v, and a stranger's is %d", pr, evil)
	}

	again, elsewhere := at.contributing(t) // which knows nothing of the first
	runGit(t, again, "fetch", "--quiet", at.URL+"/"+pr.Fork+".git", pr.Branch)
	change.Head = runGit(t, again, "commit-tree", "main^{tree}", "-p", head, "-m", "Further")
	if same, err := elsewhere.OpenPullRequest(t.Context(), change); err != nil || same.Number != pr.Number || same.Fork != pr.Fork {
		t.Fatalf("on another machine: %+v, %v", same, err)
	}
	check, err := elsewhere.Checks(t.Context(), pr.Number)
	if err != nil || check.State != forge.CheckPassed || check.Head != change.Head {
		t.Fatalf("the check is %+v, %v", check, err)
	}
	owner.call(t, http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", pr.Number), map[string]any{"event": "REQUEST_CHANGES", "body": "Not yet."}, nil)
	if said, err := elsewhere.Opinions(t.Context(), pr.Number); err != nil || said.Awaits == nil || said.Awaits.Kind != forge.AwaitedMerge || len(said.Objections) != 1 {
		t.Errorf("people say %+v, %v", said, err)
	}
	if _, err := elsewhere.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrPending) {
		t.Errorf("a merge gives %v", err)
	}

	owner.call(t, http.MethodPost, fmt.Sprintf("/pulls/%d/merge", pr.Number), map[string]any{"Do": "merge"}, nil)
	merged, err := elsewhere.Merge(t.Context(), pr.Number, check, "m")
	if err != nil || merged.State != forge.Merged || merged.MergeCommit != runGit(t, again, "rev-parse", "main") {
		t.Errorf("merged as %+v, %v", merged, err)
	}
	if there := runGit(t, again, "ls-remote", at.URL+"/"+pr.Fork+".git", "refs/heads/"+pr.Branch); there != "" {
		t.Errorf("the fork still has %s", there)
	}
	request, err := elsewhere.Request(t.Context(), change.Request)
	if err == nil {
		err = elsewhere.CloseRequest(t.Context(), request, merged.MergeCommit)
	}
	if err != nil || !request.Closed {
		t.Errorf("the issue is %+v, %v", request, err)
	}
}

// imitate has a stranger open a pull request with our marker, from a branch of the same name in another fork.
func (at target) imitate(t *testing.T, change forge.PullRequest) (number int) {
	t.Helper()
	name := "stranger-" + at.Name
	stranger, err := server.User(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var opened struct{ Number int }
	for _, step := range []struct {
		path string
		in   map[string]any
	}{
		{bot + "/" + at.Name + "/forks", map[string]any{}},
		{name + "/" + at.Name + "/contents/evil", map[string]any{"content": "eA==", "message": "Evil", "branch": "main", "new_branch": change.Branch}},
		{bot + "/" + at.Name + "/pulls", map[string]any{"title": "Evil", "base": "main", "head": name + ":" + change.Branch, "body": "<!-- signalbox:run=" + change.Key + " -->\nmine"}},
	} {
		if err := server.Call(t.Context(), stranger, http.MethodPost, "repos/"+step.path, step.in, &opened); err != nil {
			t.Fatal(err)
		}
	}
	return opened.Number
}

func TestTheWrongForkIsNotPushedTo(t *testing.T) {
	t.Parallel()
	owner := newTarget(t)
	person := "forker-" + owner.Name
	at := owner
	var err error
	if at.Token, err = server.User(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Fork(t.Context(), ""); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("without a fork: %v", err)
	}
	// A repository with the name of the fork is none, and the fork has another name.
	user := func(path string, in any) {
		if err := server.Call(t.Context(), at.Token, http.MethodPost, path, in, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Call(t.Context(), server.Token, http.MethodPost, "admin/users/"+person+"/repos", map[string]any{"name": owner.Name}, nil); err != nil {
		t.Fatal(err)
	}
	user("repos/"+bot+"/"+owner.Name+"/forks", map[string]any{"name": "another"})
	for range 2 {
		made, err := driver.MakeFork(t.Context())
		if err != nil || made.Path != person+"/another" || !made.MayPush || made.Parent != bot+"/"+owner.Name {
			t.Errorf("the fork is %+v, %v", made, err)
		}
	}
	var failure *forge.Failure
	if _, err := driver.Fork(t.Context(), person+"/"+owner.Name); !errors.As(err, &failure) || !strings.Contains(err.Error(), "no fork") {
		t.Errorf("a repository that is no fork: %v", err)
	}
}
