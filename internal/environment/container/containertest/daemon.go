package containertest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Daemon is a Docker daemon of the test's own, which it may stop and kill.
type Daemon struct {
	// Host is its address, for DOCKER_HOST.
	Host string

	dir     string
	process *exec.Cmd
	said    bytes.Buffer
}

// daemonWait is how long a daemon may take to start or stop; it takes some seconds.
const daemonWait = 5 * time.Minute

// StartDaemon starts a daemon with folders of its own until the test ends, or skips the test.
func StartDaemon(t testing.TB) *Daemon {
	t.Helper()
	if _, err := exec.LookPath("dockerd"); err != nil || os.Geteuid() != 0 {
		lacking(t, "a daemon of the test's own needs dockerd and root (%v)", err)
	}
	dir, err := os.MkdirTemp("/var/lib", "signalbox-test-") // a socket's path is short, and a temporary folder may be small
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{dir: dir, Host: "unix://" + filepath.Join(dir, "docker.sock")}
	d.Start(t)
	t.Cleanup(func() {
		d.Stop(t, syscall.SIGTERM)
		mounts, err := os.ReadFile("/proc/self/mounts")
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
				err = errors.Join(err, unix.Unmount(fields[1], unix.MNT_DETACH))
			}
		}
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Start starts the daemon again and waits until it answers.
func (d *Daemon) Start(t testing.TB) {
	t.Helper()
	d.process = exec.Command("dockerd", "--data-root", filepath.Join(d.dir, "data"), "--exec-root", filepath.Join(d.dir, "exec"),
		"--pidfile", filepath.Join(d.dir, "pid"), "--host", d.Host, "--bridge=none", "--iptables=false")
	// In a network namespace of its own: a daemon without a bridge removes that of another one.
	d.process.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	d.process.Stdout, d.process.Stderr = &d.said, &d.said
	if err := d.process.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), daemonWait)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if _, err := (Docker{Host: d.Host}).docker(ctx, "version"); err == nil {
			return
		}
	}
	_ = d.process.Process.Kill()
	_ = d.process.Wait()
	t.Fatalf("the daemon does not come up: %s", d.said.String())
}

// Stop sends the daemon a signal and waits for its end.
func (d *Daemon) Stop(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := d.process.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	timer := time.AfterFunc(daemonWait, func() { _ = d.process.Process.Kill() })
	defer timer.Stop()
	_ = d.process.Wait() // its exit code says nothing
	if signal != syscall.SIGKILL {
		return
	}
	// A killed daemon leaves processes beside the containers. If they aren't reaped, the next daemon takes them for
	// running ones.
	file := filepath.Join(d.dir, "exec", "containerd", "containerd.pid")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
	if err := os.Remove(file); err != nil {
		t.Error(err)
	}
}
