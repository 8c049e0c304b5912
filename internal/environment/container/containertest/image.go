package containertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Image is the reference of the image that all tests share.
const Image = "signalbox-test:bookworm"

// toolsImage is the reference of the image with the tools of every kind of project.
const toolsImage = "signalbox-test-tools:bookworm"

// packages are an image's packages, besides a minimal Debian, git and certificates.
var packages = map[string][]string{
	Image: nil,
	toolsImage: {"golang-go", "nodejs", "npm", "python3-venv", "maven", "junit4", "libmaven-compiler-plugin-java",
		"libmaven-resources-plugin-java", "libsurefire-java"},
}

// Tools returns an image that has Go, npm, Python and Maven with its plugins. Making it takes minutes, once per
// machine.
func (d Docker) Tools(t testing.TB) string {
	t.Helper()
	d.need(t, toolsImage)
	return toolsImage
}

// need makes an image unless it exists.
func (d Docker) need(t testing.TB, ref string) {
	t.Helper()
	once, _ := images.LoadOrStore(d.Host+" "+ref, sync.OnceValue(func() error { return d.provideImage(context.WithoutCancel(t.Context()), ref) }))
	if err := once.(func() error)(); err != nil {
		lacking(t, "the image %s cannot be made: %v", ref, err)
	}
}

// provideImage imports the image unless the daemon has it. Several test binaries may want it.
func (d Docker) provideImage(ctx context.Context, ref string) (err error) {
	if _, err := d.docker(ctx, "image", "inspect", ref); err == nil {
		return nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find cache folder: %w", err)
	}
	dir := filepath.Join(cache, "signalbox-tests")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make cache folder: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	tarball := filepath.Join(dir, strings.ReplaceAll(ref, ":", "-")+".tar")
	if _, err := os.Stat(tarball); err != nil {
		if err := bootstrap(ctx, dir, tarball, packages[ref]); err != nil {
			return err
		}
	}
	if out, err := d.docker(ctx, "import", tarball, ref); err != nil {
		return fmt.Errorf("import %s: %w: %s", tarball, err, out)
	}
	return nil
}

// installScript installs the packages $2, $3 and so on in the root folder $1, with /proc mounted.
const installScript = `mount -t proc proc "$1/proc" && root=$1 && shift && chroot "$root" apt-get update -qq &&
	chroot "$root" apt-get install -qq -y --no-install-recommends "$@" && chroot "$root" apt-get clean`

// bootstrap makes a tar file of a small Debian and the packages. It installs most of them with apt, because
// debootstrap can't resolve their dependencies.
func bootstrap(ctx context.Context, dir, tarball string, further []string) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("debootstrap needs root")
	}
	root, err := os.MkdirTemp(dir, "root-")
	if err != nil {
		return fmt.Errorf("make folder for the image: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	steps := [][]string{{"debootstrap", "--variant=minbase", "--include=git,ca-certificates", "bookworm", root}}
	if len(further) > 0 {
		install := []string{"unshare", "--mount", "--pid", "--fork", "sh", "-c", installScript, "sh", root}
		steps = append(steps, []string{"cp", "/etc/resolv.conf", filepath.Join(root, "etc")}, append(install, further...))
	}
	steps = append(steps, []string{"tar", "-C", root, "-cf", tarball + ".new", "."})
	for _, args := range steps {
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, out[max(0, len(out)-2000):])
		}
	}
	return os.Rename(tarball+".new", tarball)
}
