package clone_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// The test binary is also the program that the crash tests kill.
func TestMain(m *testing.M) {
	if os.Getenv("SIGNALBOX_TEST_CRASH") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // each child would wait a second at its end
		os.Exit(m.Run())
	}
	if err := crash(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// killer runs programs until it kills its own process: before the nth (2n) or right after it (2n+1).
type killer struct{ at, calls int }

func (k *killer) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	k.die(2 * k.calls)
	r, err := process.Host{}.Exec(ctx, c)
	k.die(2*k.calls + 1)
	k.calls++
	return r, err
}

func (k *killer) die(now int) {
	if now == k.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}

// operations are killed and then repeated. They get an environment's driver and specification.
var operations = map[string]func(context.Context, *clone.Driver, environment.Spec) error{
	"make": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		_, err := d.Make(ctx, s)
		return err
	},
	"record": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		e, err := d.Make(ctx, s)
		if err != nil {
			return err
		}
		_, err = e.Record(ctx, s.Commit, "work\n")
		return err
	},
	"reset": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		e, err := d.Make(ctx, s)
		if err != nil {
			return err
		}
		return e.Reset(ctx, s.Commit, "refs/signalbox/kept/42")
	},
	"keep": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		e, err := d.Make(ctx, s)
		if err != nil {
			return err
		}
		return e.Snapshot(ctx, key)
	},
	"restore": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		e, err := d.Make(ctx, s)
		if err != nil {
			return err
		}
		_, err = e.Restore(ctx, s.Commit, key)
		return err
	},
	// move resets to another commit than that of the specification.
	"move": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		e, err := d.Make(ctx, s)
		if err != nil {
			return err
		}
		return e.Reset(ctx, os.Getenv("SIGNALBOX_TEST_COMMIT"), "")
	},
	// attach acts as a second Signalbox beside the first.
	"attach": func(ctx context.Context, d *clone.Driver, s environment.Spec) error {
		e, err := d.Attach(ctx, s)
		if err != nil {
			return err
		}
		r, err := e.Exec(ctx, process.Command{Args: []string{"sh", "-c", "cat theirs && echo mine >mine"}, Stdout: os.Stdout})
		if err == nil && !r.OK() {
			err = fmt.Errorf("exit code %d", r.ExitCode)
		}
		return err
	},
	"remove": func(ctx context.Context, d *clone.Driver, s environment.Spec) error { return d.Remove(ctx, s) },
}

// crash runs in the killed process; its arguments are operation, kill point, project root, commit.
func crash(ctx context.Context, args []string) error {
	at, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	k := &killer{at: -1}
	repo, err := git.Open(ctx, k, args[2])
	if err != nil {
		return err
	}
	*k = killer{at: at}
	p := &environmenttest.Project{Root: args[2], Commit: args[3]}
	variables := environmenttest.Variables
	if path := os.Getenv("SIGNALBOX_TEST_PATH"); path != "" {
		variables = []string{"PATH=" + path}
	}
	d := clone.New(clone.Config{
		Repo: repo, Exec: k, Root: p.Root, State: state(p), Variables: variables,
		Warm: clone.Way(os.Getenv("SIGNALBOX_TEST_CRASH")), Cache: 1 << 30,
	})
	return operations[args[0]](ctx, d, p.Spec("site"))
}

func state(p *environmenttest.Project) string {
	return filepath.Join(p.Root, ".signalbox", "environments")
}

// killed reports whether the operation was killed. If it wasn't, it must have succeeded.
func killed(t *testing.T, operation string, at int, p *environmenttest.Project, variables ...string) bool {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], operation, strconv.Itoa(at), p.Root, p.Commit)
	c.Env = append(append(os.Environ(), "SIGNALBOX_TEST_CRASH="+string(clone.Off)), variables...)
	return environmenttest.Killed(t, operation, at, c)
}

// step leads from one kill point to the next: to each in turn, or to each fifth, so alternately before and after a program.
func step() int {
	if *whole == "all" {
		return 1
	}
	return 5
}

// firstKill returns the kill point to begin with, in each run another.
func firstKill(t *testing.T) int {
	t.Logf("by offset %d", offset)
	return offset % step()
}

func TestAKilledMakeIsMadeAgain(t *testing.T) {
	t.Parallel()
	at := firstKill(t)
	for ; ; at += step() {
		p := environmenttest.NewProject(t)
		if !killed(t, "make", at, p) {
			break
		}
		if _, err := os.Lstat(filepath.Join(p.Root, p.Spec("site").Dir)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("half a clone is in place after a kill at %d (%v)", at, err)
		}
		e := made(t, clone.New(config(t, p)), p)
		expect(t, e, "git status --porcelain && cat README.md .env", "a project\nKEY=value\n")
		expectNoLeftovers(t, p)
	}
	if at < 10 {
		t.Errorf("only %d kill points were reached", at)
	}
}

func TestAKilledRecordIsRecordedOnce(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	e := made(t, clone.New(config(t, p)), p)
	expect(t, e, "echo x >x", "")
	at := firstKill(t)
	for ; killed(t, "record", at, p); at += step() {
	}
	change, err := e.Record(t.Context(), p.Commit, "work\n")
	if err != nil || p.Git(t, "show", change.Commit+":x") != "x" {
		t.Errorf("got %v, %v", change, err)
	}
	if at < 6 {
		t.Errorf("only %d kill points were reached", at)
	}
}

func TestAKilledResetKeepsTheWorkOnce(t *testing.T) {
	t.Parallel()
	const ref = "refs/signalbox/kept/42"
	p := environmenttest.NewProject(t)
	e := made(t, clone.New(config(t, p)), p)
	at := firstKill(t)
	for ; ; at += step() {
		expect(t, e, "echo x >x && rm -rf .git/objects", "")
		again := killed(t, "reset", at, p)
		if err := e.Reset(t.Context(), p.Commit, ref); err != nil {
			t.Fatal(err)
		}
		expect(t, e, "git status --porcelain; cat README.md", "a project\n")
		if !again {
			break
		}
	}
	if n := p.Git(t, "rev-list", "--count", ref, "^"+p.Commit); n != "1" || p.Git(t, "show", ref+":x") != "x" {
		t.Errorf("the work was kept %s times", n)
	}
	if at < 12 {
		t.Errorf("only %d kill points were reached", at)
	}
}

func TestACloneThatWasNotMovedIntoPlaceIsMadeAgain(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	d := clone.New(config(t, p))
	made(t, d, p)
	for _, name := range []string{".new-site", ".old-site"} {
		if err := os.Rename(folder(p), filepath.Join(p.Root, ".worktrees", name)); err != nil {
			t.Fatal(err)
		}
		e := made(t, d, p)
		expect(t, e, "cat README.md", "a project\n")
		expectNoLeftovers(t, p)
	}
}

func expectNoLeftovers(t *testing.T, p *environmenttest.Project) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(p.Root, ".worktrees", ".*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
