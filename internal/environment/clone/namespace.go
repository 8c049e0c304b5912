package clone

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespace is where the folders of an environment that stands on its base by Private can be seen:
// a mount namespace of our own, and the user namespace by which we may mount in it. No process
// lives in it but the environment's commands. Open files hold it, so it ends with the last process
// that has them, however that ends, and nothing has to be unmounted.
type namespace struct {
	// record is the file in which its holders are listed. As long as that file, and no other, is
	// in its place the namespace is the environment's.
	record *os.File
	user   *os.File
	mounts *os.File
	root   *os.File // its root folder: paths below it are those that are seen there
}

func (n *namespace) files() []*os.File { return []*os.File{n.record, n.user, n.mounts, n.root} }

func (n *namespace) close() {
	if n == nil {
		return
	}
	for _, f := range n.files() {
		if f != nil {
			_ = f.Close()
		}
	}
}

// isListedIn reports whether the record at its place is this namespace's.
func (n *namespace) isListedIn(record fs.FileInfo) bool {
	if n == nil {
		return false
	}
	ours, err := n.record.Stat()
	return err == nil && os.SameFile(ours, record)
}

// path is where this process finds what lies at a path of the namespace. Without one that is the path itself.
func (n *namespace) path(inside string) string {
	if n == nil {
		return inside
	}
	return descriptor("self", n.root) + inside
}

// shows reports whether an overlay is mounted at a path of the namespace. The kernel takes it away
// when somebody deletes the mount point.
func (n *namespace) shows(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(n.path(path), &s) == nil && s.Type == unix.OVERLAYFS_SUPER_MAGIC
}

func descriptor(pid string, f *os.File) string {
	return "/proc/" + pid + "/fd/" + strconv.Itoa(int(f.Fd()))
}

// enter is the program that starts another in the namespace. It opens the namespaces itself, so
// what it starts inherits nothing of them.
func (n *namespace) enter() ([]string, error) {
	if n == nil {
		return nil, nil
	}
	path, err := exec.LookPath("nsenter")
	if err != nil {
		return nil, fmt.Errorf("%w: find the program that enters namespaces: %w", ErrSandbox, err)
	}
	us := strconv.Itoa(os.Getpid())
	return []string{path, "--preserve-credentials", "--user=" + descriptor(us, n.user), "--mount=" + descriptor(us, n.mounts), "--"}, nil
}

// newNamespace mounts overlays in a new namespace and takes hold of it. The first one is the tree.
func newNamespace(ctx context.Context, overlays []overlay) (*namespace, error) {
	c := exec.CommandContext(ctx, "/proc/self/exe")
	c.Args, c.Env = []string{mountName}, []string{}
	for _, o := range overlays {
		if err := vacant(o.target); err != nil {
			return nil, err
		}
		c.Args = append(c.Args, o.lower, o.layer.path, o.target)
	}
	c.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, AmbientCaps: mountRights,
		// Seen as another user's, every file would be one that git has to look into.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
	}
	n := &namespace{}
	if err := n.takeHold(c, overlays[0].target); err != nil {
		n.close()
		return nil, fmt.Errorf("mount in a namespace: %w", err)
	}
	return n, nil
}

// takeHold starts a program that mounts a tree, opens its namespaces, and lets it end.
func (n *namespace) takeHold(c *exec.Cmd, tree string) error {
	stdin, errIn := c.StdinPipe()
	stdout, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	said, err := bufio.NewReader(io.LimitReader(stdout, maxSaid)).ReadString('\n')
	if said = strings.TrimSpace(said); said == mountedWord {
		err = n.open(c.Process.Pid)
	} else if said != "" {
		err = errors.New(said)
	}
	if err == nil && !n.shows(tree) {
		err = fmt.Errorf("nothing is mounted on %s", tree)
	}
	return errors.Join(err, stdin.Close(), c.Wait())
}

// maxSaid bounds what is read of a complaint.
const maxSaid = 4 << 10

// open opens the namespaces of a process.
func (n *namespace) open(pid int) (err error) {
	proc := fmt.Sprintf("/proc/%d/", pid)
	if n.user, err = os.Open(proc + "ns/user"); err != nil {
		return err
	}
	if n.mounts, err = os.Open(proc + "ns/mnt"); err != nil {
		return err
	}
	n.root, err = os.OpenFile(proc+"root", unix.O_PATH|unix.O_DIRECTORY, 0)
	return err
}
