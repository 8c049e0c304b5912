// Package forgetest is the suite that every forge must pass. It uses only the port and real git repositories.
package forgetest

import (
	"context"
	"errors"
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
	// Project is the folder of the repository with its checkout.
	Project string
	// Remote is the bare repository that is pushed to; empty if there is none.
	Remote string
	// Base is the branch to merge into.
	Base string
	// Request is an open request.
	Request forge.Request
	// Runs returns how often the tests have run.
	Runs func() int
	// Comments returns the bodies of the comments on Request.
	Comments func(*testing.T) []string
}

// Operation is one call of the port that another process can make.
type Operation struct {
	Open  *forge.PullRequest `json:"open,omitempty"`
	Merge *Merge             `json:"merge,omitempty"`
}

// Merge holds the arguments of forge.Forge's Merge.
type Merge struct {
	Number  int         `json:"number"`
	Checked forge.Check `json:"checked"`
	Message string      `json:"message"`
}

// Perform makes the call.
func (o Operation) Perform(ctx context.Context, f forge.Forge) error {
	switch {
	case o.Open != nil:
		_, err := f.OpenPullRequest(ctx, *o.Open)
		return err
	case o.Merge != nil:
		_, err := f.Merge(ctx, o.Merge.Number, o.Merge.Checked, o.Merge.Message)
		return err
	}
	return errors.New("the operation is empty")
}

// Run runs the suite. Each case gets its own harness.
func Run(t *testing.T, newHarness func(*testing.T) Harness) {
	cases := []struct {
		name string
		test func(*testing.T, *project)
	}{
		{"opening twice with one key gives one pull request, and another key another", openTwice},
		{"opening again moves the branch and the head", openAgain},
		{"a missing pull request is not found", unknownPull},
		{"a closed pull request is not merged", closedPull},
		{"a comment is edited in place and a request closed once", comments},
		{"a request is opened once for one key, also by eight callers at once", openRequest},
		{"a request keeps any text", openHostileRequest},
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
		{"opening survives kill -9 at every instant", killedOpening},
		{"merging survives kill -9 at every instant", killedMerge},
		{"an interrupted merge is completed by the next one", killedThenAnother},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newProject(t, newHarness))
		})
	}
}
