package container_test

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
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// TestMain is also the program that the crash tests kill.
func TestMain(m *testing.M) {
	if os.Getenv("SIGNALBOX_TEST_CRASH") == "" {
		os.Exit(m.Run())
	}
	if err := crash(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// killer kills its own process, and with it what it runs, at an order to Docker: before the nth
// (3n), while it is carried out (3n+1), or after it (3n+2).
type killer struct{ at, orders int }

func (k *killer) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if filepath.Base(c.Args[0]) != engine.Name {
		return process.Host{}.Exec(ctx, c)
	}
	n := k.orders
	k.orders++
	switch k.at {
	case 3 * n:
		die()
	case 3*n + 1:
		// Docker takes some milliseconds to look, some hundred to make or start something.
		time.AfterFunc([]time.Duration{3e6, 10e6, 40e6, 120e6}[n%4], die)
	}
	r, err := process.Host{}.Exec(ctx, c)
	if k.at == 3*n+2 {
		die()
	}
	return r, err
}

func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

const crashKey = "fingerprint"

// operations are the calls that are killed and then repeated.
var operations = map[string]func(context.Context, *container.Driver, environment.Spec) error{
	"make": func(ctx context.Context, d *container.Driver, s environment.Spec) error {
		_, err := d.Make(ctx, s)
		return err
	},
	"renew and keep": func(ctx context.Context, d *container.Driver, s environment.Spec) error {
		e, err := d.Make(ctx, s)
		if err != nil {
			return err
		}
		if _, err := e.Restore(ctx, s.Commit, crashKey); err != nil {
			return err
		}
		if _, err := e.Exec(ctx, process.Command{Args: []string{"sh", "-c", "echo kept >/opt/kept"}}); err != nil {
			return err
		}
		return e.Snapshot(ctx, crashKey)
	},
	"remove": func(ctx context.Context, d *container.Driver, s environment.Spec) error { return d.Remove(ctx, s) },
}

// crash is the process that is killed: operation, kill point, project root, commit, and what a
// driver needs.
func crash(ctx context.Context, args []string) error {
	at, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	repo, err := git.Open(ctx, process.Host{}, args[2])
	if err != nil {
		return err
	}
	p := &environmenttest.Project{Root: args[2], Commit: args[3]}
	d := container.New(container.Config{
		Clone:     clone.Config{Repo: repo, Exec: &killer{at: at}, Root: p.Root, State: state(p), Cache: 1 << 30, Variables: environmenttest.Variables},
		Variables: environmenttest.Variables, Image: containertest.Image, Network: egress.None,
		Program: args[4], Docker: args[5], DockerEnv: []string{args[6]},
	})
	return operations[args[0]](ctx, d, p.Spec("site"))
}

// killed reports whether the operation was killed; otherwise it must have ended well.
func killed(t *testing.T, operation string, at int, docker containertest.Docker, p *environmenttest.Project) bool {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], operation, strconv.Itoa(at), p.Root, p.Commit, docker.Program, docker.Helper, docker.Env()[0])
	c.Env = append(os.Environ(), "SIGNALBOX_TEST_CRASH=1")
	return environmenttest.Killed(t, operation, at, c)
}

// sweptAway is whether Check leaves no container of the project. Docker may still be carrying
// out what a killed Signalbox asked for, so it is asked again for a while.
func sweptAway(t *testing.T, d *container.Driver, docker containertest.Docker, p *environmenttest.Project) bool {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if _, err := d.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(docker.Containers(t, p.Root)) == 0 {
			return true
		}
	}
	return false
}

func TestAKilledMakeLeavesOneContainerOrOneThatIsSwept(t *testing.T) {
	t.Parallel()
	docker := containertest.New(t)
	at := 0
	for ; ; at++ {
		p := environmenttest.NewProject(t)
		d := container.New(config(t, docker, p))
		again := killed(t, "make", at, docker, p)
		if at%2 == 0 {
			must(t, made(t, d, p.Spec("site")), "cat README.md")
			if ids := docker.Containers(t, p.Root); len(ids) != 1 {
				t.Errorf("killed at %d: containers %v", at, ids)
			}
		}
		if err := errors.Join(os.RemoveAll(filepath.Join(state(p), "site")), os.RemoveAll(filepath.Join(p.Root, p.Spec("site").Dir))); err != nil {
			t.Fatal(err)
		}
		if !sweptAway(t, d, docker, p) {
			t.Errorf("killed at %d: an orphan is left", at)
		}
		if !again {
			break
		}
	}
	if at < 9 {
		t.Errorf("only %d kill points were met", at)
	}
}

func TestAKilledKeepIsKeptByTheNextOneAndARemovalIsFinished(t *testing.T) {
	t.Parallel()
	docker := containertest.New(t)
	p := environmenttest.NewProject(t)
	d := container.New(config(t, docker, p))
	at := 0
	for ; killed(t, "renew and keep", at, docker, p); at++ {
		must(t, made(t, d, p.Spec("site")), "cat README.md")
	}
	if at < 20 {
		t.Errorf("only %d kill points were met", at)
	}
	e := made(t, d, p.Spec("site"))
	if err := e.Evict(t.Context(), crashKey); err != nil {
		t.Fatal(err)
	}
	for at = 0; killed(t, "remove", at, docker, p); at++ {
	}
	if ids := docker.Containers(t, p.Root); len(ids) != 0 || at < 3 {
		t.Errorf("after %d kills containers %v are left", at, ids)
	}
	if _, err := d.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names := docker.Docker(t, "images", "--format", "{{.Repository}}:{{.Tag}}", "--filter", "label=signalbox.project="+p.Root); names != "" {
		t.Errorf("images are left: %s", names)
	}
}
