package perform

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/forge/gitea"
	"signalbox/internal/forge/gitea/giteatest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/workflow"
)

var sweep = flag.String("sweep", "sampled", `on a real Gitea, "all" kills at every instant and loses every answer, in both ways to merge; "sampled" takes one of each kind`)

// giteaServer is a real one, with the token of our account.
type giteaServer struct {
	*giteatest.Server
	token string
}

const giteaAccount = "signalbox"

// onGitea is an outside whose issues and pull requests are on a real Gitea.
type onGitea struct {
	*outside
	giteaServer
	name string
}

// call reads below the repository.
func (o *onGitea) call(t *testing.T, method, path string, in, out any) {
	t.Helper()
	if err := o.Call(t.Context(), o.token, method, "repos/"+giteaAccount+"/"+o.name+path, in, out); err != nil {
		t.Fatal(err)
	}
}

// newOnGitea makes a repository with an issue. Answers that are to be lost are lost on the way to git and to the driver.
func newOnGitea(t *testing.T, s giteaServer, way hosted.Way, lose func(*http.Request) bool) *onGitea {
	t.Helper()
	o := &onGitea{newOutside(t), s, fmt.Sprint(time.Now().UnixNano())}
	proxy, err := s.Lossy(func(r *http.Request) bool { return lose != nil && lose(r) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	if err := s.Repository(t.Context(), giteaAccount, o.name); err != nil {
		t.Fatal(err)
	}
	if err := s.Unguard(giteaAccount, o.name); err != nil {
		t.Fatal(err)
	}
	o.git("", "config", "http.extraHeader", "Authorization: token "+s.token)
	o.git("", "push", "-q", "--force", s.URL+"/"+giteaAccount+"/"+o.name+".git", "main")
	o.git("", "remote", "add", "origin", proxy.URL+"/"+giteaAccount+"/"+o.name+".git")
	o.git("", "fetch", "-q", "origin")
	o.call(t, http.MethodPost, "/issues", map[string]any{"title": "Change it", "body": "Please."}, nil)
	clock := &jumping{now: time.Now().UTC()}
	o.clock = engine.Clock{Now: clock.Now, After: clock.After}
	o.access = func() Access { return Access{Variable: "GITEA_TOKEN"} }
	o.forge = func(p ports) forge.Forge {
		server, err := gitea.New(gitea.Config{URL: proxy.URL, Owner: giteaAccount, Name: o.name, Client: &http.Client{Transport: p}, Now: clock.Now,
			Token: func(context.Context) (string, error) { return s.token, nil }})
		if err != nil {
			t.Error(err)
		}
		return hosted.New(hosted.Config{Server: server, Git: o.half(), Store: o.store, Merge: way, WithoutCI: true, Statuses: true, Labels: true, Clock: clock.Now})
	}
	return o
}

// isDone wants one pull request, one merge, each comment once, and the issue closed.
func (o *onGitea) isDone(t *testing.T, run workflow.Run) {
	t.Helper()
	if run.State != workflow.Done {
		t.Fatalf("the run is %s, %+v", run.State, run.Error)
	}
	var issue struct{ State string }
	var pulls []struct{ Number int }
	var comments []struct{ Body string }
	o.call(t, http.MethodGet, "/issues/1", nil, &issue)
	o.call(t, http.MethodGet, "/pulls?state=all", nil, &pulls)
	o.call(t, http.MethodGet, "/issues/1/comments", nil, &comments)
	seen := map[string]int{}
	for _, c := range comments {
		mark, _, _ := strings.Cut(c.Body, "\n")
		if seen[mark]++; seen[mark] > 1 {
			t.Errorf("a second comment %s", mark)
		}
	}
	if issue.State != "closed" || len(pulls) != 1 || len(seen) == 0 {
		t.Errorf("the issue is %s; there are %d pull requests, and the comments %v", issue.State, len(pulls), seen)
	}
	o.git("", "fetch", "-q", "origin")
	merges := strings.Fields(o.git("", "rev-list", "--merges", "origin/main"))
	if len(merges) != 1 || merges[0] != run.Details.MergeCommit {
		t.Errorf("main has the merges %v, the run %s", merges, run.Details.MergeCommit)
	}
}

func TestARunOnARealGiteaSurvivesKillsAndLostAnswers(t *testing.T) {
	t.Parallel()
	programs := os.Getenv(giteatest.Programs)
	if programs == "" {
		t.Skip("no Gitea: " + giteatest.Programs + " is not set")
	}
	server, err := giteatest.Start(t.Context(), programs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := giteaServer{Server: server}
	if s.token, err = server.User(t.Context(), giteaAccount); err != nil {
		t.Fatal(err)
	}
	auto, all := workflow.Settings{AutoApprove: true}, *sweep == "all"
	killed := func(t *testing.T, way hosted.Way) {
		t.Parallel()
		o := newOnGitea(t, s, way, nil)
		d := newDying(o.outside)
		d.sampled = !all
		o.isDone(t, o.goOn(t, d, o.start(t, auto)))
		if t.Logf("processes died in %v", d.deaths); !all && len(d.instants) < 40 {
			t.Errorf("they died at %d kinds of instants, fewer than a run has", len(d.instants))
		}
	}
	lost := func(t *testing.T, ways ...hosted.Way) {
		t.Parallel()
		runs := 0
		if n := untilAllWereLost(t, !all, func(l *losses) {
			o := newOnGitea(t, s, ways[runs%len(ways)], l.lose)
			runs++
			o.isDone(t, o.goOn(t, straight{dying{outside: o.outside}, l.begin}, o.start(t, auto)))
		}); n < 10 || runs < len(ways) {
			t.Errorf("%d answers were lost in %d runs, fewer than a run has", n, runs)
		}
	}
	if !all {
		t.Run("killed", func(t *testing.T) { killed(t, hosted.Guarded) })
		t.Run("lost answers", func(t *testing.T) { lost(t, hosted.Guarded, hosted.Exact) })
		return
	}
	for _, way := range []hosted.Way{hosted.Exact, hosted.Guarded} {
		t.Run("killed, "+string(way), func(t *testing.T) { killed(t, way) })
		t.Run("lost answers, "+string(way), func(t *testing.T) { lost(t, way) })
	}
}
