package clone_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
)

// BenchmarkWarm makes an environment and restores it from a snapshot, for a repository of 20,000 files with a dependency folder
// of 40,000. Beside it it does the same with "git worktree add" and "cp -a". Metrics: the ratio of their times, and the median
// of each.
func BenchmarkWarm(b *testing.B) {
	for _, way := range []clone.Way{clone.Overlay, clone.Private, clone.Home, clone.Shared, clone.Copy} {
		b.Run(string(way), func(b *testing.B) {
			if way == clone.Overlay {
				needsRoot(b)
			}
			w := newWarmed(b, way, 20_000, 40_000)
			var warm, cold, again []time.Duration
			for b.Loop() {
				took, remove := w.worktree(b)
				cold = append(cold, took)
				made, restored := w.warm(b)
				remove()
				warm, again = append(warm, made+restored), append(again, restored)
			}
			b.ReportMetric(median(cold)/median(warm), "x-faster")
			b.ReportMetric(median(cold)/median(again), "x-faster-renewing-alone")
			b.ReportMetric(median(warm)*1000, "warm-ms")
			b.ReportMetric(median(cold)*1000, "worktree+cp-ms")
		})
	}
}

// BenchmarkWarmGrowth is the same by layers for 1,000 and for 100,000 files.
func BenchmarkWarmGrowth(b *testing.B) {
	for _, way := range []clone.Way{clone.Overlay, clone.Private} {
		b.Run(string(way), func(b *testing.B) {
			if way == clone.Overlay {
				needsRoot(b)
			}
			small, large := newWarmed(b, way, 1_000, 1_000), newWarmed(b, way, 100_000, 100_000)
			var few, many []time.Duration
			for b.Loop() {
				for range 5 {
					made, restored := small.warm(b)
					few = append(few, made+restored)
					made, restored = large.warm(b)
					many = append(many, made+restored)
				}
			}
			b.ReportMetric(median(many)/median(few), "x-growth")
			b.ReportMetric(median(few)*1000, "1k-ms")
			b.ReportMetric(median(many)*1000, "100k-ms")
		})
	}
}

func median(of []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2].Seconds()
}

// warmed is a project with a snapshot.
type warmed struct {
	*environmenttest.Project
	driver       *clone.Driver
	dependencies string // a copy of them in the checkout
	files        int    // of the snapshot, dependencies included
	n            int
}

func newWarmed(b *testing.B, way clone.Way, files, dependencies int) *warmed {
	b.Helper()
	p, _ := keeping(b, way)
	c := keepingConfig(b, p, way)
	c.Cache = 10 << 30
	d := clone.New(c)
	fill(b, filepath.Join(p.Root, "source"), files, sourceSize)
	// Git searches the whole checkout for included files.
	p.Git(b, "rm", "--quiet", ".worktreeinclude")
	p.Git(b, "config", "gc.auto", "0") // or it would begin some time; a project's history is packed
	p.Git(b, "add", "source")
	p.Git(b, "commit", "--quiet", "--message=files")
	p.Commit = p.Git(b, "rev-parse", "HEAD")
	p.Git(b, "gc", "--quiet")
	w := &warmed{Project: p, driver: d, dependencies: filepath.Join(p.Root, "node_modules"), files: files + dependencies}
	fill(b, w.dependencies, dependencies, dependencySize)
	e := restored(b, d, p.Spec("first"), false)
	fill(b, filepath.Join(p.Root, p.Spec("first").Dir, "node_modules"), dependencies, dependencySize)
	if err := e.Snapshot(b.Context(), key); err != nil {
		b.Fatal(err)
	}
	return w
}

// Bytes of a file: 40,000 dependencies are 500 MB.
const (
	sourceSize     = 4096
	dependencySize = 12_288
)

// fill makes files of a size, a hundred to a folder.
func fill(b *testing.B, dir string, files, size int) {
	b.Helper()
	for i := range files {
		folder := filepath.Join(dir, fmt.Sprint(i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		content := bytes.Repeat(fmt.Appendf(nil, "%031d\n", i), size/32)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file-%d.txt", i)), content, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// warm returns the times of Make and Restore.
func (w *warmed) warm(b *testing.B) (made, restoring time.Duration) {
	b.Helper()
	w.n++
	spec := w.Spec(fmt.Sprintf("warm-%d", w.n))
	start := time.Now()
	e, err := w.driver.Make(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	made = time.Since(start)
	start = time.Now()
	if warm, err := e.Restore(b.Context(), spec.Commit, key); err != nil || !warm {
		b.Fatal(warm, err)
	}
	restoring = time.Since(start)
	w.check(b, e, spec)
	return made, restoring
}

// check checks the environment and removes it.
func (w *warmed) check(b *testing.B, e environment.Environment, spec environment.Spec) {
	b.Helper()
	expect(b, e, "git status --porcelain; find source node_modules -type f | wc -l", fmt.Sprintln(w.files))
	if err := w.driver.Remove(b.Context(), spec); err != nil {
		b.Fatal(err)
	}
}

// worktree returns the time of git and cp for the same. Remove deletes their files when nothing is measured: some file systems
// are slow to reuse recently deleted space.
func (w *warmed) worktree(b *testing.B) (took time.Duration, remove func()) {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "tree")
	start := time.Now()
	w.Git(b, "worktree", "add", "--quiet", "--detach", dir, w.Commit)
	if out, err := exec.CommandContext(b.Context(), "cp", "-a", w.dependencies, dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	took = time.Since(start)
	unix.Sync() // or the next measurement would wait for the files of this one
	return took, func() { w.Git(b, "worktree", "remove", "--force", dir) }
}
