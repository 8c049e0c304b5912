package hosting

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/hosted"
)

// protected is a server that tells of a repository and of a branch, and nothing else.
type protected struct {
	forge.Server
	repository forge.Repository
	asked      forge.Requirements
}

func (p protected) Whoami(context.Context) (forge.Account, error) {
	return forge.Account{Name: "ada"}, nil
}

func (p protected) Repository(context.Context) (forge.Repository, error) { return p.repository, nil }

func (p protected) Required(context.Context, string) (forge.Requirements, error) { return p.asked, nil }

var errFollowed = errors.New("the way was chosen")

type half struct{ hosted.Git }

func (half) Follow(context.Context, string) (bool, error) { return false, errFollowed }

// chosen is what package hosted chooses, as far as it shows: who may push and not merge is refused if the server is to merge, by its queue if there is
// one.
func chosen(t *testing.T, wanted hosted.Way, p protected) string {
	t.Helper()
	err := hosted.New(hosted.Config{Server: p, Git: half{}, Merge: wanted}).MayMerge(t.Context(), "main")
	switch {
	case errors.Is(err, errFollowed):
		return config.MergeExact
	case err != nil && err.Error() == fmt.Sprintf("%v: %q may not merge pull requests of a/b", forge.ErrRights, "ada"):
		if p.asked.Queue {
			return config.MergeQueue
		}
		return config.MergeGuarded
	}
	return ""
}

func TestDoctorNamesTheWayToMergeThatRunsChoose(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, wanted := range []hosted.Way{"", hosted.Exact, hosted.Guarded, hosted.Queue} {
		for bits := range 32 {
			is := func(bit int) bool { return bits>>bit&1 == 1 }
			p := protected{repository: forge.Repository{Path: "a/b", MayPush: true}, asked: forge.Requirements{Unknown: is(0), PushRefused: is(1), Queue: is(2)}}
			if is(3) {
				p.asked.Approvals = 1
			}
			if is(4) {
				p.repository.Methods = []string{"squash"}
			}
			want := chosen(t, wanted, p)
			seen[want]++
			if got, why := wayOf(wanted, p.repository, p.asked); got != want || why == "" {
				t.Errorf("%s with %+v: doctor says %q (%s), a run takes %q", wanted, p.asked, got, why, want)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("only %v were chosen", seen)
	}
}
