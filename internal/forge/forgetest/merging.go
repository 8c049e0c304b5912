package forgetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/forge"
)

func merge(t *testing.T, p *project) {
	pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1\n", "sub/b": "2\n"}))
	merged, err := mergeNow(t.Context(), p.forge, pr.Number, check, "Merge it\n\nBecause it passed.")
	if err != nil {
		t.Fatal(err)
	}
	p.wantMerged(t, merged, check)
	if got := p.git(t, "log", "-1", "--format=%B", merged.MergeCommit); got != "Merge it\n\nBecause it passed." {
		t.Errorf("message is %q", got)
	}
	if content, err := os.ReadFile(filepath.Join(p.Project, "sub", "b")); err != nil || string(content) != "2\n" {
		t.Errorf("checkout holds %q, %v", content, err)
	}
	again, err := p.Open(t).Merge(t.Context(), pr.Number, check, "m")
	if err != nil || again.MergeCommit != merged.MergeCommit {
		t.Errorf("second merge gives %+v, %v, want %s", again, err, merged.MergeCommit)
	}
	p.wantMerged(t, again, check)
	if err := p.forge.ClosePullRequest(t.Context(), pr.Number); !errors.Is(err, forge.ErrMerged) {
		t.Errorf("closing it gives %v, want ErrMerged", err)
	}
}

func baseMoved(t *testing.T, p *project) {
	pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1"}))
	p.commitOnBase(t, "elsewhere", "1")
	before := p.snapshot(t)
	if _, err := p.forge.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrBaseMoved) {
		t.Fatalf("merge gives %v, want ErrBaseMoved", err)
	}
	p.wantUntouched(t, before)
	again := p.check(t, pr)
	p.wantMerged(t, p.merge(t, pr, again), again)
}

func olderCheck(t *testing.T, p *project) {
	pr, older := p.passed(t, p.change(t, 1, map[string]string{"a": "1"}))
	p.commitOnBase(t, "elsewhere", "1")
	newer := p.check(t, pr)
	p.wantMerged(t, p.merge(t, pr, older), newer)
}

func dirtyCheckout(t *testing.T, p *project) {
	p.commitOnBase(t, "a", "0\n")
	pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1\n", "new": "1\n"}))
	for name, content := range map[string]string{"a": "mine\n", "new": "mine too\n"} {
		t.Run(name, func(t *testing.T) {
			p.write(t, name, content)
			before := p.snapshot(t)
			_, err := p.forge.Merge(t.Context(), pr.Number, check, "m")
			if !errors.Is(err, forge.ErrCheckout) || !strings.Contains(err.Error(), name) {
				t.Errorf("merge gives %v, want ErrCheckout naming %q", err, name)
			}
			p.wantUntouched(t, before)
			if kept, err := os.ReadFile(filepath.Join(p.Project, name)); err != nil || string(kept) != content {
				t.Errorf("the local file holds %q, %v", kept, err)
			}
			p.git(t, "stash", "--include-untracked")
		})
	}
	p.write(t, "unrelated", "mine\n")
	merged := p.merge(t, pr, check)
	if err := os.Remove(filepath.Join(p.Project, "unrelated")); err != nil {
		t.Errorf("a local file that was not in the way is gone: %v", err)
	}
	p.wantMerged(t, merged, check)
}

func mergedByHand(t *testing.T, p *project) {
	pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1"}))
	p.git(t, "merge", "--quiet", "--no-ff", "-m", "By hand", pr.Head)
	if p.Remote != "" {
		p.git(t, "push", "--quiet", p.Remote, p.Base)
	}
	p.wantMerged(t, p.merge(t, pr, check), check)
}

// remoteMoved needs a remote. Without one, only the local base can move.
func remoteMoved(t *testing.T, p *project) {
	pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1"}))
	if p.Remote == "" {
		baseMoved(t, p.fresh(t))
		return
	}
	old := p.baseCommit(t)
	elsewhere := p.commit(t, old, map[string]string{"elsewhere": "1"})
	p.git(t, "push", "--quiet", p.Remote, elsewhere+":refs/heads/"+p.Base)
	before := p.snapshot(t)
	if _, err := p.forge.Merge(t.Context(), pr.Number, check, "m"); err == nil {
		t.Fatal("merged what the remote refuses")
	}
	p.wantUntouched(t, before)
	p.git(t, "pull", "--quiet", "--ff-only", p.Remote, p.Base)
	again := p.check(t, pr)
	p.wantMerged(t, p.merge(t, pr, again), again)
}

func concurrentMerges(t *testing.T, p *project) {
	const pulls = 8
	var changes []forge.PullRequest
	var forges []forge.Forge
	for n := range pulls {
		changes = append(changes, p.change(t, n+1, map[string]string{fmt.Sprintf("file-%d", n): "1"}))
		forges = append(forges, p.Open(t))
	}
	var pending sync.WaitGroup
	for n, change := range changes {
		f := forges[n]
		pending.Go(func() {
			if err := land(t.Context(), f, change); err != nil {
				t.Errorf("change %d: %v", n+1, err)
			}
		})
	}
	pending.Wait()
	if merges := p.git(t, "rev-list", "--first-parent", "--merges", "--count", p.Base); merges != fmt.Sprint(pulls) {
		t.Errorf("%s merges on the base branch, want %d", merges, pulls)
	}
	files := p.git(t, "ls-tree", "--name-only", p.Base)
	for n := range pulls {
		if !strings.Contains(files, fmt.Sprintf("file-%d", n)) {
			t.Errorf("the base branch lost file-%d", n)
		}
	}
	p.wantFollowed(t)
}

// land opens, checks and merges a change, and repeats that while other merges get ahead.
func land(ctx context.Context, f forge.Forge, change forge.PullRequest) error {
	pr, err := f.OpenPullRequest(ctx, change)
	if err != nil {
		return err
	}
	for {
		check, err := eventually(ctx, func() (forge.Check, error) { return f.Checks(ctx, pr.Number) })
		if err != nil {
			return err
		}
		if _, err = mergeNow(ctx, f, pr.Number, check, change.Title); !errors.Is(err, forge.ErrBaseMoved) {
			return err
		}
	}
}
