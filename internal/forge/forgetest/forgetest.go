// Package forgetest is the suite that every forge must pass. It uses only the port and real git repositories.
package forgetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/forge"
)

// FailingFile makes the tests fail for every tree that contains it.
const FailingFile = "FAIL"

// Harness is a fresh project on a forge. It has at least one commit on Base, which is checked out in Project without local changes.
type Harness struct {
	// Open opens the forge. Each call returns another instance on the same data, as another process would.
	Open func(*testing.T) forge.Forge
	// Kill lets another process perform the operation and kills it with SIGKILL at its n-th step, counted
	// from 0. It reports whether that killed the process; otherwise the operation had no n-th step and
	// succeeded.
	Kill func(t *testing.T, n int, operation Operation) (died bool)
	// Every is how far apart the instants are at which one run of the tests kills, if they are many and costly. Each run tries others. 0 means 1.
	Every int
	// Lose performs the operation over a connection that breaks after the server performed its n-th change, counted from 0, and before the answer
	// arrives. It reports whether that happened; otherwise the operation had no n-th change and succeeded. nil: there is no server.
	Lose func(t *testing.T, n int, operation Operation) (lost bool)
	// Project is the folder of the repository with its checkout.
	Project string
	// Remote is the address of the repository that is pushed to; empty if there is none. Project's configuration has what git needs for it.
	Remote string
	// Branches is the address of the repository that branches of pull requests are pushed to; empty means Remote.
	Branches string
	// Base is the branch to merge into.
	Base string
	// Request is an open request.
	Request forge.Request
	// Runs returns how often the tests have run.
	Runs func() int
	// Comments returns the bodies of the comments on Request, without markers.
	Comments func(*testing.T) []string
	// Pulls returns how many pull requests the server has; nil if there is no server.
	Pulls func(*testing.T) int
	// CI is the server's own; nil if there is none.
	CI *CI
}

// CI is a CI whose jobs do what the suite says.
type CI struct {
	// Fail adds a job on a commit that failed. End ends the one that runs, and Starts is how often it started.
	Fail   func(commit, job string)
	End    func(job string, passed bool)
	Starts func(job string) int
}

// Operation is one call of the port that another process can make.
type Operation struct {
	Open    *forge.PullRequest `json:"open,omitempty"`
	Merge   *Merge             `json:"merge,omitempty"`
	Comment *Comment           `json:"comment,omitempty"`
	Request *Request           `json:"request,omitempty"`
	// Announce is for a forge.Announcer.
	Announce *Announce `json:"announce,omitempty"`
	// Rerun is for a forge.Rerunner.
	Rerun *Rerun `json:"rerun,omitempty"`
}

// Rerun holds the arguments of forge.Rerunner's method.
type Rerun struct {
	Number int    `json:"number"`
	Head   string `json:"head"`
}

// Announce holds the arguments of forge.Announcer's method.
type Announce struct {
	Request      forge.Request      `json:"request"`
	Announcement forge.Announcement `json:"announcement"`
}

// Comment holds the arguments of forge.Forge's Comment.
type Comment struct {
	Request forge.Request `json:"request"`
	Key     string        `json:"key"`
	Body    string        `json:"body"`
}

// Request holds the arguments of forge.Forge's OpenRequest.
type Request struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Merge holds the arguments of forge.Forge's Merge.
type Merge struct {
	Number  int         `json:"number"`
	Checked forge.Check `json:"checked"`
	Message string      `json:"message"`
}

// Perform makes the call, and a merge as soon as a server lets it.
func (o Operation) Perform(ctx context.Context, f forge.Forge) error {
	switch {
	case o.Open != nil:
		_, err := f.OpenPullRequest(ctx, *o.Open)
		return err
	case o.Merge != nil:
		_, err := mergeNow(ctx, f, o.Merge.Number, o.Merge.Checked, o.Merge.Message)
		return err
	case o.Comment != nil:
		return f.Comment(ctx, o.Comment.Request, o.Comment.Key, o.Comment.Body)
	case o.Request != nil:
		_, err := f.OpenRequest(ctx, o.Request.Key, o.Request.Title, o.Request.Body)
		return err
	}
	if announcer, ok := f.(forge.Announcer); ok && o.Announce != nil {
		return announcer.Announce(ctx, o.Announce.Request, o.Announce.Announcement)
	}
	if rerunner, ok := f.(forge.Rerunner); ok && o.Rerun != nil {
		_, err := rerunner.Rerun(ctx, o.Rerun.Number, o.Rerun.Head)
		return err
	}
	return errors.New("the operation is empty")
}

// Run runs the suite. Each case gets its own harness.
func Run(t *testing.T, newHarness func(*testing.T) Harness) {
	RunKeeping(t, newHarness)
	RunMerging(t, newHarness)
}

// RunKeeping runs the part of the suite about requests, comments and pull requests that are not merged; of that, if there are names, the cases whose
// names contain one.
func RunKeeping(t *testing.T, newHarness func(*testing.T) Harness, names ...string) {
	t.Helper()
	runSome(t, newHarness, keeping, names)
}

// RunMerging runs the part of the suite that another way to merge can change, or some of it.
func RunMerging(t *testing.T, newHarness func(*testing.T) Harness, names ...string) {
	t.Helper()
	runSome(t, newHarness, merging, names)
}

func runSome(t *testing.T, newHarness func(*testing.T) Harness, all []testCase, names []string) {
	t.Helper()
	some := all
	if len(names) > 0 {
		some = nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(c testCase) bool { return strings.Contains(c.name, name) })
		if i < 0 {
			t.Fatalf("no case is called %q", name)
		}
		some = append(some, all[i])
	}
	run(t, newHarness, some)
}

type testCase struct {
	name string
	test func(*testing.T, *project)
}

var (
	keeping = []testCase{
		{"opening twice with one key gives one pull request, and another key another", openTwice},
		{"opening again moves the branch and the head", openAgain},
		{"a missing pull request is not found", unknownPull},
		{"a closed pull request is not merged", closedPull},
		{"a comment is edited in place and a request closed once", comments},
		{"a request is opened once for one key, also by eight callers at once", openRequest},
		{"a request keeps any text", openHostileRequest},
		{"opening survives kill -9 at every instant", killedOpening},
		{"a lost answer opens no second pull request", lostOpening},
		{"a lost answer writes no second comment", lostComment},
		{"a lost answer opens no second request", lostRequest},
		{"a lost answer announces nothing twice", lostAnnouncement},
		{"announcing survives kill -9 at every instant", killedAnnouncement},
		{"a lost answer runs no job a third time", lostRerun},
		{"running jobs again survives kill -9 at every instant", killedRerun},
	}
	merging = []testCase{
		{"failing tests give a failed check and no merge", failingChecks},
		{"a tree is tested once", testedOnce},
		{"a conflict is named and not tested", conflict},
		{"a merge puts exactly the tested tree on the base branch, once", merge},
		{"a moved base is refused until its merge is tested", baseMoved},
		{"an older check merges if the present result passed too", olderCheck},
		{"a head that moved after its check is refused", headMoved},
		{"a checkout with changes in the way is refused and kept", dirtyCheckout},
		{"a merge made by hand is found", mergedByHand},
		{"a remote that moved refuses the merge before it shows here", remoteMoved},
		{"eight pull requests merged at once all land", concurrentMerges},
		{"merging survives kill -9 at every instant", killedMerge},
		{"an interrupted merge is completed by the next one", killedThenAnother},
		{"a lost answer makes no second merge", lostMerge},
	}
)

func run(t *testing.T, newHarness func(*testing.T) Harness, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newProject(t, newHarness))
		})
	}
}
