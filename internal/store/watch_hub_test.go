package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/registry"
)

const maxInstances = "/proc/sys/user/max_inotify_instances"

func TestAThousandWatchesShareOneInstance(t *testing.T) {
	t.Parallel()
	runInNamespace(t, "watch a thousand folders")
}

func TestWatchesArePolledWhileTheKernelHasNoInstanceLeft(t *testing.T) {
	t.Parallel()
	runInNamespace(t, "watch without instances")
}

// runInNamespace has another process play a role where the kernel's limits are its own.
func runInNamespace(t *testing.T, role string) {
	t.Helper()
	cmd := another(t, openStore(t), role)
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	groups := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: ids, GidMappings: groups}
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%s: %v\n%s", role, err, out)
	}
}

func allowInstances(n int) error { return os.WriteFile(maxInstances, fmt.Append(nil, n), 0) }

func watchAThousandFolders(ctx context.Context, s *Store, _ []string) error {
	if err := allowInstances(1); err != nil {
		return err
	}
	before, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var changes []<-chan struct{}
	for n := range 1000 {
		dir := fmt.Sprintf("runs/RQ-%d/20260101-000000-000000", n)
		if err := os.MkdirAll(filepath.Join(s.path, dir), 0o777); err != nil {
			return err
		}
		for _, path := range []string{dir + "/stage.json", locksDir} {
			changed, err := s.Watch(ctx, path)
			if err != nil {
				return fmt.Errorf("watch %d: %w", n, err)
			}
			changes = append(changes, changed)
		}
	}
	after, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	const mine = 5 // the instance, what wakes its reader up, and what waits for both
	if len(after) > len(before)+mine {
		return fmt.Errorf("%d descriptors became %d", len(before), len(after))
	}
	if _, _, polling := s.watches.State(); polling {
		return fmt.Errorf("files are polled")
	}
	for n := range 1000 {
		if err := os.WriteFile(fmt.Sprintf("%s/runs/RQ-%d/20260101-000000-000000/stage.json", s.path, n), nil, 0o666); err != nil {
			return err
		}
		<-changes[2*n]
	}
	if err := os.WriteFile(filepath.Join(s.path, locksDir, "slot-0.lock"), nil, 0o666); err != nil {
		return err
	}
	for n := range 1000 {
		<-changes[2*n+1]
	}
	cancel()
	for _, changed := range changes {
		for range changed {
		}
	}
	if folders, watching, _ := s.watches.State(); watching || folders > 0 {
		return fmt.Errorf("nothing is watched, but the watcher is there for %d folders", folders)
	}
	return nil
}

func watchWithoutInstances(ctx context.Context, s *Store, _ []string) error {
	var said bytes.Buffer
	s.watches.Log, s.watches.Every = slog.New(slog.NewTextHandler(&said, nil)), time.Millisecond
	if err := allowInstances(0); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	documents, err := s.WatchDocuments(ctx)
	if err != nil {
		return err
	}
	var changes []<-chan struct{}
	for range 3 {
		changed, err := s.Watch(ctx, locksDir)
		if err != nil {
			return err
		}
		changes = append(changes, changed)
	}
	for _, changed := range changes {
		<-changed
	}
	if err := s.Environments().Update(ctx, func(*registry.Environments) error { return nil }); err != nil {
		return err
	}
	if change := <-documents; change.Kind != KindEnvironments {
		return fmt.Errorf("told %+v", change)
	}
	if err := allowInstances(1); err != nil {
		return err
	}
	for polled := true; polled; {
		<-changes[0]
		_, _, polled = s.watches.State()
	}
	for _, changed := range changes { // the last poll
		select {
		case <-changed:
		default:
		}
	}
	if err := os.WriteFile(filepath.Join(s.path, locksDir, "slot-0.lock"), nil, 0o666); err != nil {
		return err
	}
	for _, changed := range changes {
		<-changed
	}
	if lines := strings.Count(said.String(), "\n"); lines != 2 {
		return fmt.Errorf("logged %d lines, want one for each way:\n%s", lines, said.String())
	}
	return nil
}
