package clone_test

import (
	"flag"
	"fmt"
	"maps"
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

// What is killed at a system call does everything on its first thread, which alone is traced.
func init() {
	if os.Getenv("SIGNALBOX_TEST_CRASH") != "" {
		runtime.LockOSThread()
	}
}

// whole says whether an operation is killed at every instant in every way to stand on a base. Else
// the ways share those out at which each does the same, among many.
var whole = flag.String("sweep", "shared", `"all" kills at every instant in every way to stand on a base, "shared" at some in one of them`)

// instants are the system calls that change what a later process finds, and which of them is
// tried next: of the many that make and delete folders, each time twice as far.
var instants = map[string]func(n int) int{
	"renameat": each, "mount": each, "umount2": each, "syncfs": each, "mkdirat": doubling, "unlinkat": doubling,
}

func each(n int) int     { return n + 1 }
func doubling(n int) int { return 2 * n }

// shared are the calls whose instants the ways share.
var shared = []string{"mkdirat", "unlinkat"}

// share is what the way whose turn it is takes of a call's instants, of which there are some.
func share(call string, there, turn, ways int) (taken []int) {
	if *whole == "all" || !slices.Contains(shared, call) {
		turn, ways = 0, 1
	}
	for n, i := 1, 0; n <= there; n, i = instants[call](n), i+1 {
		if i%ways == turn {
			taken = append(taken, n)
		}
	}
	return taken
}

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

// traced is an operation in a process of its own under strace.
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

// counted lets an operation end, and is how often it makes each call.
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

// swept kills an operation before those calls that the way whose turn it is takes, each time in a
// project of its own that attempt prepares and looks at afterwards. less is how many there are at least.
func swept(t *testing.T, way clone.Way, turn, ways int, operation string, calls []string, less int, attempt func(*testing.T, func(*environmenttest.Project))) {
	t.Helper()
	var times map[string]int
	attempt(t, func(p *environmenttest.Project) { times = counted(t, way, operation, p) })
	met := 0
	for _, call := range calls {
		for _, n := range share(call, times[call], turn, ways) {
			t.Run(call+" "+strconv.Itoa(n), func(t *testing.T) {
				attempt(t, func(p *environmenttest.Project) {
					if killedAt(t, way, operation, call, n, p) {
						met++
					}
				})
			})
		}
	}
	if met < less {
		t.Errorf("only %d instants were met", met)
	}
	t.Logf("%d instants", met)
}

// sweep is swept for all calls and ways, and looks whether all goes on.
func sweep(t *testing.T, operation string, less int, prepare, goOn func(*testing.T, *environmenttest.Project, *clone.Driver)) {
	t.Parallel()
	needs(t, "strace")
	ways := slices.DeleteFunc(waysBy(t), func(way clone.Way) bool { return way == clone.Shared }) // but for what is copied it is Copy
	for i, way := range ways {
		if way == clone.Overlay {
			way = clone.Auto // is Overlay, after it was tried
		}
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			swept(t, way, i, len(ways), operation, slices.Collect(maps.Keys(instants)), less, func(t *testing.T, operate func(*environmenttest.Project)) {
				p, d := keeping(t, way)
				prepare(t, p, d)
				d.Die() // so that the one that is killed is the only one
				operate(p)
				goOn(t, p, clone.New(keepingConfig(t, p, way)))
			})
		})
	}
}

// Whatever Snapshot was doing when it was killed, the environment has what its set-up made, keeping
// it again works, and the next one begins from it.
func TestAKilledKeepLosesNothing(t *testing.T) {
	sweep(t, "keep", 12, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		expect(t, renewed(t, d, p.Spec("site"), false), setUp+" && echo dirt >>README.md", "")
	}, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		e := made(t, d, p)
		expect(t, e, "git checkout --quiet . && "+verify, verified)
		if err := e.Snapshot(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		expect(t, e, verify+"; git status --porcelain", verified)
		expect(t, renewed(t, d, p.Spec("other"), true), verify+"; git status --porcelain", verified)
		if _, err := d.Prune(t.Context(), 1<<30, false); err != nil {
			t.Fatal(err)
		}
		if whole := bases(t, p); len(whole) != 1 {
			t.Errorf("bases are %q", whole)
		}
		expectNoLeftovers(t, p)
		expectNoStaging(t, p)
	})
}

// Whatever Restore was doing when it was killed, renewing again works and the base is as it was.
func TestAKilledRenewalIsRenewedAgain(t *testing.T) {
	sweep(t, "renew", 8, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		e, _ := kept(t, d, p)
		expect(t, e, `echo x >README.md && echo x >node_modules/x && rm -r src/build && echo x >"$HOME/x"`, "")
	}, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		base := bases(t, p)[0]
		before := snapshot(t, base)
		expect(t, made(t, d, p), "test -s README.md && git rev-parse HEAD", p.Commit+"\n") // as it was, or anew
		e := renewed(t, d, p.Spec("site"), true)
		expect(t, e, verify+`; git status --porcelain; ls node_modules | grep x; ls "$HOME"; git log --format=%H`, verified+p.Commit+"\n")
		expectSame(t, before, base)
		if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
			t.Fatal(err)
		}
		expectNoLeftovers(t, p)
		expectNoStaging(t, p)
		if held, err := os.ReadDir(state(p)); err != nil || len(held) != 1 {
			t.Errorf("beside the kept ones are left %v, %v", held, err)
		}
		if left := mountsBelow(p.Root); len(left) != 0 {
			t.Errorf("mounted are %q", left)
		}
	})
}

// A base that another run made meanwhile takes the place of a clone in which nothing ran yet.
func TestARenewalThatIsKilledBeforeItMadeRoomIsRenewedAgain(t *testing.T) {
	needs(t, "strace")
	eachLayered(t, func(t *testing.T, way clone.Way) {
		swept(t, way, 0, 1, "renew", []string{"renameat"}, 5, func(t *testing.T, operate func(*environmenttest.Project)) {
			p, d := keeping(t, way)
			made(t, d, p)
			other := renewed(t, d, p.Spec("other"), false)
			expect(t, other, setUp, "")
			if err := other.Snapshot(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			operate(p)
			expect(t, renewed(t, clone.New(keepingConfig(t, p, way)), p.Spec("site"), true), verify+"; git status --porcelain", verified)
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
