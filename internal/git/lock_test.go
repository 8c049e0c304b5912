package git_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/git"
)

// leaveLock makes a lock file as a git leaves it that was killed an hour ago.
func (p project) leaveLock(name string) (path string) {
	p.t.Helper()
	p.write(filepath.Join(".git", name), "")
	return p.age(name)
}

// age makes a file of the git folder an hour old.
func (p project) age(name string) (path string) {
	p.t.Helper()
	path = filepath.Join(p.dir, ".git", name)
	ago := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, ago, ago); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func TestLocksOfADeadGitAreRemoved(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	repo := m.open()
	m.leaveLock("index.lock")
	if err := repo.SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.assertNew(t)
	m.leaveLock("refs/heads/main.lock")
	if err := repo.UpdateRef(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Error(err)
	}
	m.git("pack-refs", "--all")
	m.leaveLock("packed-refs.lock")
	if err := repo.DeleteRef(t.Context(), mainRef, m.old); err != nil {
		t.Error(err)
	}
}

// A git dies a little later than the Signalbox it was killed with, which may be started again by then.
func TestALockLeftWhileWeStartedIsRemoved(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	lock := m.leaveLock("index.lock")
	later := time.Now().Add(500 * time.Millisecond)
	if err := os.Chtimes(lock, later, later); err != nil {
		t.Fatal(err)
	}
	if out, err := m.syncInChild(0, "never"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	m.assertNew(t)
}

func TestLocksOfALiveGitStay(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(p project) string{
		"one that is younger than this process": func(p project) string {
			path := p.leaveLock("refs/heads/main.lock")
			later := time.Now().Add(2 * time.Second) // this process may have been started just now
			if err := os.Chtimes(path, later, later); err != nil {
				p.t.Fatal(err)
			}
			return path
		},
		"one that a process has open": func(p project) string {
			path := p.leaveLock("refs/heads/main.lock")
			file, err := os.Open(path)
			if err != nil {
				p.t.Fatal(err)
			}
			p.t.Cleanup(func() { _ = file.Close() })
			return path
		},
		"one that is a folder": func(p project) string {
			path := p.leaveLock("refs/heads/main.lock/inside")
			if err := os.Remove(path); err != nil {
				p.t.Fatal(err)
			}
			return p.age("refs/heads/main.lock")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			first, second := p.commit("first"), p.commit("second")
			lock := hold(p)
			if err := p.open().UpdateRef(t.Context(), mainRef, first, second); !errors.Is(err, git.ErrLocked) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Lstat(lock); err != nil {
				t.Errorf("the lock is gone: %v", err)
			}
		})
	}
}

// "git commit -a" holds the index while a person writes the message, and fails if the branch has moved by then.
func TestACheckoutInWhichACommitIsBeingWrittenIsNotReady(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	repo := m.open()
	lock := m.leaveLock("index.lock")
	if err := repo.CheckCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Errorf("after a killed git: %v", err)
	}
	m.write(".git/index.lock", "")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(lock, later, later); err != nil {
		t.Fatal(err)
	}
	var half *git.UnfinishedError
	if err := repo.CheckCheckout(t.Context(), mainRef, m.old, m.id); !errors.As(err, &half) || half.What != "commit" || half.Lock != lock {
		t.Errorf("got %v", err)
	}
}

func TestALockIsWaitedFor(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first, second := p.commit("first"), p.commit("second")
	lock := filepath.Join(p.dir, ".git/refs/heads/main.lock")
	p.write(".git/refs/heads/main.lock", "")
	later := time.Now().Add(time.Hour) // a lock from the first second of this process may be a killed git's
	if err := os.Chtimes(lock, later, later); err != nil {
		t.Fatal(err)
	}
	tried := make(chan struct{}, 100)
	repo := p.openWith(observed(tried))
	for len(tried) > 0 {
		<-tried // what opened the repository
	}
	done := make(chan error, 1)
	go func() { done <- repo.UpdateRef(t.Context(), mainRef, first, second) }()
	<-tried
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// "git commit" closes its lock while a person writes the message.
func TestALockStaysWhileAnOlderGitIsInTheCheckout(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	older := exec.CommandContext(t.Context(), "git", "cat-file", "--batch")
	older.Dir = m.dir
	stdin, err := older.StdinPipe()
	if err == nil {
		err = older.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lock := m.leaveLock("index.lock")
	if out, err := m.syncInChild(0, "never"); err == nil || !strings.Contains(out, git.ErrLocked.Error()) {
		t.Errorf("got %v: %s", err, out)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
	_ = stdin.Close()
	if err := older.Wait(); err != nil {
		t.Fatal(err)
	}
	if out, err := m.syncInChild(0, "never"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	m.assertNew(t)
}

// syncInChild runs SyncCheckout in a process of its own that is killed before or after its nth program.
func (m merged) syncInChild(n int, when string) (string, error) {
	m.t.Helper()
	child := exec.CommandContext(m.t.Context(), must(os.Executable())(m.t))
	child.Env = append(os.Environ(), fmt.Sprintf("SIGNALBOX_TEST_SYNC=%s %s %s %d %s", m.dir, m.old, m.id, n, when))
	out, err := child.CombinedOutput()
	return string(out), err
}
