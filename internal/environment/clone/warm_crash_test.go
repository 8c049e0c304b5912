package clone_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
)

// Strace follows only the first thread, so a process to kill at a system call does everything there.
func init() {
	if os.Getenv("SIGNALBOX_TEST_CRASH") != "" {
		runtime.LockOSThread()
	}
}

// whole says whether an operation is killed at every point in every way to use a snapshot. Otherwise each run tries others: in
// each way a sixth of them, and the ways different ones.
var (
	whole  = flag.String("sweep", "sampled", `"all" kills at every point in every way to use a snapshot, "sampled" at some, other ones in each run`)
	offset = rand.IntN(30)
)

// instants are the system calls that change files for a later process, and the choice of the next to try: of the many that make
// and delete folders, each is twice as far as the last.
var instants = map[string]func(n int) int{
	"renameat": each, "mount": each, "umount2": each, "syncfs": each, "mkdirat": doubling, "unlinkat": doubling,
}

func each(n int) int     { return n + 1 }
func doubling(n int) int { return 2 * n }

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("needs %s", program)
	}
	t.Skipf("needs %s", program)
}

// traced returns an operation in a process of its own under strace.
func traced(t *testing.T, way clone.Way, operation string, p *environmenttest.Project, options ...string) *exec.Cmd {
	t.Helper()
	args := append(options, os.Args[0], operation, "-1", p.Root, p.Commit)
	c := exec.CommandContext(t.Context(), "strace", args...)
	c.Env = append(os.Environ(), "SIGNALBOX_TEST_CRASH="+string(way))
	return c
}

// killedAt kills an operation right before the nth call, and reports whether there was one.
func killedAt(t *testing.T, way clone.Way, operation, call string, n int, p *environmenttest.Project) bool {
	t.Helper()
	c := traced(t, way, operation, p, "-o", "/dev/null", "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n))
	return environmenttest.Killed(t, operation+" at "+call, n, c)
}

// counted lets an operation end, and counts each of its calls.
func counted(t *testing.T, way clone.Way, operation string, p *environmenttest.Project) map[string]int {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	c := traced(t, way, operation, p, "-o", log, "-e", "trace="+strings.Join(slices.Collect(maps.Keys(instants)), ","))
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", operation, err, said)
	}
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for line := range strings.Lines(string(lines)) {
		call, _, _ := strings.Cut(line, "(")
		times[call]++
	}
	return times
}

// swept kills an operation before this way's and this run's part of the calls, each time in a project of its own that attempt
// prepares and checks afterwards. There must be at least less such points.
func swept(t *testing.T, way clone.Way, operation string, calls []string, less int, attempt func(*testing.T, func(*environmenttest.Project))) {
	t.Helper()
	var times map[string]int
	attempt(t, func(p *environmenttest.Project) { times = counted(t, way, operation, p) })
	there, tried, met, turn := 0, 0, 0, offset+slices.Index(waysBy(t), way)
	for _, call := range calls {
		for n := 1; n <= times[call]; n = instants[call](n) {
			if there++; *whole != "all" && (there+turn)%6 != 0 {
				continue
			}
			tried++
			t.Run(call+" "+strconv.Itoa(n), func(t *testing.T) {
				attempt(t, func(p *environmenttest.Project) {
					if killedAt(t, way, operation, call, n, p) {
						met++
					}
				})
			})
		}
	}
	if there < less || tried == 0 || met < tried/2 {
		t.Errorf("of %d kill points %d were tried and %d reached", there, tried, met)
	}
	t.Logf("%d of %d instants, by offset %d", met, there, offset)
}

// sweep runs swept for all calls and ways, and checks that the environment continues.
func sweep(t *testing.T, operation string, less int, prepare, goOn func(*testing.T, *environmenttest.Project, *clone.Driver)) {
	t.Parallel()
	needs(t, "strace")
	ways := slices.DeleteFunc(waysBy(t), func(way clone.Way) bool { return way == clone.Shared }) // except for copying, it is Copy
	for _, way := range ways {
		if way == clone.Overlay {
			way = clone.Auto // is Overlay, after it was tried
		}
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			swept(t, way, operation, slices.Sorted(maps.Keys(instants)), less, func(t *testing.T, operate func(*environmenttest.Project)) {
				p, d := keeping(t, way)
				prepare(t, p, d)
				d.Die() // so that the one that is killed is the only one
				operate(p)
				goOn(t, p, clone.New(keepingConfig(t, p, way)))
			})
		})
	}
}

// Wherever Snapshot was killed, the environment has its setup's files, another Snapshot works, and the next environment starts
// from it.
func TestAKilledSnapshotLosesNothing(t *testing.T) {
	sweep(t, "keep", 12, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		expect(t, restored(t, d, p.Spec("site"), false), setup+" && echo dirt >>README.md", "")
	}, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		e := made(t, d, p)
		expect(t, e, "git checkout --quiet . && "+verify, verified)
		if err := e.Snapshot(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		expect(t, e, verify+"; git status --porcelain", verified)
		expect(t, restored(t, d, p.Spec("other"), true), verify+"; git status --porcelain", verified)
		if _, err := d.Prune(t.Context(), 1<<30, false); err != nil {
			t.Fatal(err)
		}
		if whole := snapshots(t, p); len(whole) != 1 {
			t.Errorf("snapshots: %q", whole)
		}
		expectNoLeftovers(t, p)
		expectNoStaging(t, p)
	})
}

// Wherever Restore was killed, restoring again works and the snapshot is as it was.
func TestAKilledRestoreIsRepeated(t *testing.T) {
	sweep(t, "restore", 8, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		e, _ := kept(t, d, p)
		expect(t, e, `echo x >README.md && echo x >node_modules/x && rm -r src/build && echo x >"$HOME/x"`, "")
	}, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		snapshot := snapshots(t, p)[0]
		before := contents(t, snapshot)
		expect(t, made(t, d, p), "test -s README.md && git rev-parse HEAD", p.Commit+"\n") // as it was, or anew
		e := restored(t, d, p.Spec("site"), true)
		expect(t, e, verify+`; git status --porcelain; ls node_modules | grep x; ls "$HOME"; git log --format=%H`, verified+p.Commit+"\n")
		expectSame(t, before, snapshot)
		if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
			t.Fatal(err)
		}
		expectNoLeftovers(t, p)
		expectNoStaging(t, p)
		if held, err := os.ReadDir(state(p)); err != nil || len(held) != 1 {
			t.Errorf("left behind beside the snapshots: %v, %v", held, err)
		}
		if left := mountsBelow(p.Root); len(left) != 0 {
			t.Errorf("still mounted: %q", left)
		}
	})
}

// A snapshot that another run made meanwhile replaces a clone in which nothing ran yet.
func TestARestoreKilledBeforeItClearedTheCloneIsRepeated(t *testing.T) {
	needs(t, "strace")
	eachLayered(t, func(t *testing.T, way clone.Way) {
		swept(t, way, "restore", []string{"renameat"}, 5, func(t *testing.T, operate func(*environmenttest.Project)) {
			p, d := keeping(t, way)
			made(t, d, p)
			other := restored(t, d, p.Spec("other"), false)
			expect(t, other, setup, "")
			if err := other.Snapshot(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			operate(p)
			expect(t, restored(t, clone.New(keepingConfig(t, p, way)), p.Spec("site"), true), verify+"; git status --porcelain", verified)
		})
	})
}

func expectNoStaging(t *testing.T, p *environmenttest.Project) {
	t.Helper()
	for _, pattern := range []string{".new-*", ".old-*"} {
		if left, err := filepath.Glob(filepath.Join(state(p), "cache", pattern)); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
