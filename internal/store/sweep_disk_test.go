package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// disk is a file system in a file, whose power can be cut: what it did not
// write to the file by then is gone.
type disk struct{ kind, image, dir string }

// diskSize is bytes: the least that XFS takes. The file is sparse.
const diskSize = 300 << 20

func newDisk(t *testing.T, kind string) *disk {
	t.Helper()
	needs(t, "mkfs."+kind, "xfs_io", "mount")
	home := t.TempDir()
	d := &disk{kind, filepath.Join(home, "image"), filepath.Join(home, "disk")}
	file, err := os.Create(d.image)
	if err == nil {
		err = errors.Join(file.Truncate(diskSize), file.Close(), os.Mkdir(d.dir, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, "mkfs."+kind, "-q", d.image)
	hideMounts(t)
	// No package gives the right to mount, so that this is no failure where CI=true.
	if out, err := d.mount(t.Context()); err != nil {
		t.Skipf("needs the right to mount a %s file system through a loop device: %s", kind, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.dir, unix.MNT_DETACH) })
	return d
}

// hideMounts keeps what the test mounts from every process but its own. A
// sandbox that is made elsewhere meanwhile would take a copy of the mount along,
// and a disk that is mounted anywhere does not restart. The thread is not given
// back: it ends with the test.
func hideMounts(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err != nil {
		t.Skipf("needs the right to a mount namespace: %v", err)
	}
}

func (d *disk) mount(ctx context.Context) ([]byte, error) {
	return exec.CommandContext(ctx, "mount", "-t", d.kind, "-o", "loop", d.image, d.dir).CombinedOutput()
}

func (d *disk) cut(t *testing.T) { t.Helper(); run(t, "xfs_io", "-x", "-c", "shutdown", d.dir) }

// restart mounts the disk again, which replays its journal.
func (d *disk) restart(t *testing.T) {
	t.Helper()
	// A child of another test may have our descriptors until its exec, which nothing signals.
	deadline := time.Now().Add(2 * time.Minute)
	err := unix.Unmount(d.dir, 0)
	for ; errors.Is(err, unix.EBUSY) && time.Now().Before(deadline); err = unix.Unmount(d.dir, 0) {
		runtime.Gosched()
	}
	if err != nil {
		t.Fatalf("unmount after the cut: %v", err)
	}
	if out, err := d.mount(t.Context()); err != nil {
		t.Fatalf("mount after the cut: %v %s", err, out)
	}
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// carelessUpdates replace an issue's status as the store does, but for one flush.
var carelessUpdates = map[string]sweptUpdate{
	"without a flush of the file":   {begin: beginCareless(false, true), count: countStatus},
	"without a flush of the folder": {begin: beginCareless(true, false), count: countStatus},
}

func beginCareless(flushFile, flushFolder bool) beginning {
	return func(_ context.Context, s *Store) (func() error, error) {
		f, err := s.makeFolder(statusDir, publicDir)
		n := 0
		return func() error {
			n++
			return replaceCarelessly(f, fmt.Sprintf(`{"issue": %d, "status": "error", "session": "", "error_message": "%d", "timestamp": "2026-11-20T10:11:12Z"}`,
				sweptIssue, n), flushFile, flushFolder)
		}, err
	}
}

func replaceCarelessly(f *folder, text string, flushFile, flushFolder bool) error {
	file, err := f.open("next", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, publicFile)
	if err != nil {
		return err
	}
	_, err = bytes.NewBufferString(text).WriteTo(file)
	if err == nil && flushFile {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close(), f.rename("next", strconv.Itoa(sweptIssue)+".json")); err != nil || !flushFolder {
		return err
	}
	return f.dir.Sync()
}
