package git_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

func TestSyncCheckoutRemovesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.git("reset", "-q", "--hard", m.id)
	m.write(".signalbox-checkout/files/x", "left\n")
	m.write(".signalbox-checkout/.gitignore", "*\n")
	m.leaveLock("index.lock") // nothing is left to write, so no git meets it
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.assertNew(t)
}

// Whatever part of the files is new already, the rest follows.
func TestSyncCheckoutCompletesPartialWork(t *testing.T) {
	t.Parallel()
	for done := range len(sides) + 1 {
		t.Run(fmt.Sprintf("after %d files", done), func(t *testing.T) {
			t.Parallel()
			m := newMerged(t)
			for _, f := range sides[:done] {
				m.take(f.path)
			}
			for _, f := range sides[:done] {
				// A folder that is not empty yet is what a file has to wait for.
				if f.id != "" && !m.isFolder(f.path) {
					m.put(f.path, f.id)
				}
			}
			if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
				t.Fatal(err)
			}
			m.assertNew(t)
		})
	}
}

// mortal kills its own process in place of, or right after, the nth program it would run.
type mortal struct {
	left  *int
	after bool
}

func (m mortal) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if slices.Contains(c.Args, "--batch-command") { // it answers questions for as long as we live
		return process.Host{}.Exec(ctx, c)
	}
	*m.left--
	if *m.left == 0 && !m.after {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	result, err := process.Host{}.Exec(ctx, c)
	if *m.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return result, err
}

// syncAndDie is the test program running as the one that is killed.
func syncAndDie() {
	var dir, old, id, when string
	left, n := 0, 0
	if _, err := fmt.Sscanf(os.Getenv("SIGNALBOX_TEST_SYNC"), "%s %s %s %d %s", &dir, &old, &id, &n, &when); err != nil {
		panic(err)
	}
	repo, err := git.Open(context.Background(), mortal{&left, when == "after"}, dir)
	if err == nil {
		left = n
		err = repo.SyncCheckout(context.Background(), mainRef, old, id)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

func TestSyncCheckoutSurvivesKillAtEveryProgram(t *testing.T) {
	t.Parallel()
	template := newMerged(t)
	for _, when := range []string{"before", "after"} {
		kills := 0
		for n := 1; ; n++ {
			m := template.copy()
			out, err := m.syncInChild(n, when)
			if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
				t.Fatalf("killed %s program %d: %v", when, n, err)
			}
			m.assertNew(t)
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "signal: killed") {
				t.Fatalf("%v: %s", err, out)
			}
			kills++
		}
		if kills < 10 {
			t.Errorf("only %d programs were run", kills)
		}
		t.Logf("killed %s each of %d programs", when, kills)
	}
}
