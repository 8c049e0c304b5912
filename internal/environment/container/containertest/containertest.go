// Package containertest owns what tests with real containers need: a daemon, an image and the two programs. If
// they are missing, it skips the test, or fails it if CI=true.
package containertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Docker is the daemon, image and programs of a test.
type Docker struct {
	// Host is the daemon's address, for DOCKER_HOST.
	Host string
	// Image is a Debian with git in it.
	Image string
	// Program is signalbox and Helper signalbox-docker, both linked statically.
	Program, Helper string
}

// Env returns the variables for the helper.
func (d Docker) Env() []string { return []string{"DOCKER_HOST=" + d.Host} }

var (
	programs = sync.OnceValues(buildPrograms)
	images   sync.Map // by host and reference: func() error
)

// New returns the machine's Docker, or skips the test.
func New(t testing.TB) Docker {
	t.Helper()
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	return At(t, host)
}

// At is New for the daemon at host.
func At(t testing.TB, host string) Docker {
	t.Helper()
	d := Docker{Host: host, Image: Image}
	if out, err := d.docker(t.Context(), "version"); err != nil {
		lacking(t, "Docker's daemon is not reached: %v: %s", err, out)
	}
	d.need(t, Image)
	folder, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	d.Program, d.Helper = filepath.Join(folder, "signalbox"), filepath.Join(folder, "signalbox-docker")
	return d
}

// lacking skips a test, or fails it if nothing may be missing.
func lacking(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// docker runs Docker's own command.
func (d Docker) docker(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "docker", args...)
	c.Env = append(os.Environ(), "DOCKER_HOST="+d.Host)
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// Docker runs Docker's own command, as a person beside Signalbox would.
func (d Docker) Docker(t testing.TB, args ...string) string {
	t.Helper()
	out, err := d.docker(context.WithoutCancel(t.Context()), args...)
	if err != nil {
		t.Fatalf("docker %q: %v: %s", args, err, out)
	}
	return out
}

// Containers lists the ids of a project's containers.
func (d Docker) Containers(t testing.TB, root string) []string {
	t.Helper()
	return strings.Fields(d.Docker(t, "ps", "--all", "--quiet", "--no-trunc", "--filter", "label=signalbox.project="+root))
}

// RemoveProject removes the containers and images of the project at root.
func (d Docker) RemoveProject(t testing.TB, root string) {
	t.Helper()
	for _, id := range d.Containers(t, root) {
		d.Docker(t, "rm", "--force", "--volumes", id)
	}
	sum := sha256.Sum256([]byte(root))
	for _, filter := range []string{"reference=signalbox/" + hex.EncodeToString(sum[:6]), "label=signalbox.project=" + root} {
		for line := range strings.Lines(d.Docker(t, "images", "--format", "{{.ID}} {{.Repository}}:{{.Tag}}", "--filter", filter)) {
			id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.Contains(name, "<none>") {
				name = id
			}
			d.Docker(t, "rmi", "--force", name)
		}
	}
}

func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f.Close, nil
}

// buildPrograms builds both programs into a folder that all test binaries share. Go links them again only if
// something changed.
func buildPrograms() (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	dir = filepath.Join(cache, "signalbox-tests", "programs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make folder for programs: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	c := exec.Command("go", "build", "-o", dir, "signalbox/cmd/signalbox", "signalbox/cmd/signalbox-docker")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build programs: %w: %s", err, out)
	}
	return dir, nil
}
