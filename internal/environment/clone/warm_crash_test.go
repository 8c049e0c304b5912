package clone_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
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

// instants are the system calls that change what a later process finds, and which of them is
// tried next: of the many that make and delete folders, each time twice as far.
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

// killedAt kills an operation right before the nth call, and reports whether there was one.
func killedAt(t *testing.T, way clone.Way, operation, call string, n int, p *environmenttest.Project) bool {
	t.Helper()
	c := exec.CommandContext(t.Context(), "strace", "-o", "/dev/null", "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n),
		os.Args[0], operation, "-1", p.Root, p.Commit)
	c.Env = append(os.Environ(), "SIGNALBOX_TEST_CRASH="+string(way))
	return endedByKill(t, operation+" at "+call, n, c)
}

// sweep kills an operation before each of its calls, each time in a project of its own, and then
// looks whether all goes on. less is how many instants there are at least.
func sweep(t *testing.T, operation string, less int, prepare, goOn func(*testing.T, *environmenttest.Project, *clone.Driver)) {
	t.Parallel()
	needs(t, "strace")
	for _, way := range waysBy(t) {
		switch way {
		case clone.Shared:
			continue // but for what is copied it is Copy
		case clone.Overlay:
			way = clone.Auto // is Overlay, after it was tried
		}
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			met := 0
			for call, next := range instants {
				for n := 1; ; n = next(n) {
					landed := false
					t.Run(call+" "+strconv.Itoa(n), func(t *testing.T) {
						p, d := keeping(t, way)
						prepare(t, p, d)
						d.Die() // so that the one that is killed is the only one
						landed = killedAt(t, way, operation, call, n, p)
						goOn(t, p, clone.New(keepingConfig(t, p, way)))
					})
					if !landed {
						break
					}
					met++
				}
			}
			if met < less {
				t.Errorf("only %d instants were met", met)
			}
			t.Logf("%d instants", met)
		})
	}
}

// Whatever Keep was doing when it was killed, the environment has what its set-up made, keeping
// it again works, and the next one begins from it.
func TestAKilledKeepLosesNothing(t *testing.T) {
	sweep(t, "keep", 12, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		expect(t, renewed(t, d, p.Spec("site"), false), setUp+" && echo dirt >>README.md", "")
	}, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		e := made(t, d, p)
		expect(t, e, "git checkout --quiet . && "+verify, verified)
		if err := e.Keep(t.Context(), key); err != nil {
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

// Whatever Renew was doing when it was killed, renewing again works and the base is as it was.
func TestAKilledRenewalIsRenewedAgain(t *testing.T) {
	sweep(t, "renew", 8, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		e, _ := kept(t, d, p)
		expect(t, e, `echo x >README.md && echo x >node_modules/x && rm -r src/build && echo x >"$HOME/x"`, "")
	}, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		base := bases(t, p)[0]
		before := snapshot(t, base)
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
		met := 0
		for landed := true; landed; met++ {
			p, d := keeping(t, way)
			made(t, d, p)
			other := renewed(t, d, p.Spec("other"), false)
			expect(t, other, setUp, "")
			if err := other.Keep(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			landed = killedAt(t, way, "renew", "renameat", met+1, p)
			expect(t, renewed(t, clone.New(keepingConfig(t, p, way)), p.Spec("site"), true), verify+"; git status --porcelain", verified)
		}
		if met < 5 {
			t.Errorf("only %d instants were met", met)
		}
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
