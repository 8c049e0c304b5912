package overlay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
)

// Namespace is where the folders of an environment that stands on its base by Private can be seen:
// a mount namespace of our own, and the user namespace by which we may mount in it. No process
// lives in it but the environment's commands. Open files hold it, so it ends with the last process
// that has them, however that ends, and nothing has to be unmounted.
type Namespace struct {
	// record is the file in which its holders are listed. As long as that file, and no other, is
	// in its place the namespace is the environment's.
	record *os.File
	user   *os.File
	mounts *os.File
	root   *os.File // its root folder: paths below it are those that are seen there

	// network is one of its own, nil where none was asked for or another process made it, with
	// what listens in it. One command at a time is in it, which takes it.
	network   *os.File
	listeners []net.Listener
	taken     atomic.Bool
}

// Take takes the namespace's network for one command, until GiveBack; false if there is none, or another command has it.
func (n *Namespace) Take() bool { return n.network != nil && n.taken.CompareAndSwap(false, true) }

// GiveBack leaves the network to the next command.
func (n *Namespace) GiveBack() { n.taken.Store(false) }

// Mounts reports whether folders are mounted in it.
func (n *Namespace) Mounts() bool { return n.mounts != nil }

// Flags are the options by which nsenter enters it, with its network or without.
func (n *Namespace) Flags(network bool) []string {
	us := strconv.Itoa(os.Getpid())
	flags := []string{"--user=" + descriptor(us, n.user)}
	if n.mounts != nil {
		flags = append(flags, "--mount="+descriptor(us, n.mounts))
	}
	if network {
		flags = append(flags, "--net="+descriptor(us, n.network))
	}
	return flags
}

func (n *Namespace) files() []*os.File { return []*os.File{n.record, n.user, n.mounts, n.root} }

// Close lets go of it. Nil has nothing to let go of.
func (n *Namespace) Close() {
	if n == nil {
		return
	}
	for _, f := range n.files() {
		if f != nil {
			_ = f.Close()
		}
	}
	if n.network != nil {
		_ = n.network.Close()
	}
	for _, l := range n.listeners {
		_ = l.Close()
	}
}

// IsListedIn reports whether the record at its place is this namespace's.
func (n *Namespace) IsListedIn(record fs.FileInfo) bool {
	if n == nil {
		return false
	}
	ours, err := n.record.Stat()
	return err == nil && os.SameFile(ours, record)
}

// Path is where this process finds what lies at a path of the namespace. Without one that is the path itself.
func (n *Namespace) Path(inside string) string {
	if n == nil {
		return inside
	}
	return descriptor("self", n.root) + inside
}

// Shows reports whether an overlay is mounted at a path of the namespace. The kernel takes it away
// when somebody deletes the mount point.
func (n *Namespace) Shows(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(n.Path(path), &s) == nil && s.Type == unix.OVERLAYFS_SUPER_MAGIC
}

func descriptor(pid string, f *os.File) string {
	return "/proc/" + pid + "/fd/" + strconv.Itoa(int(f.Fd()))
}

// NewNamespace mounts overlays in a new namespace, listens at addresses in a network of its own,
// and takes hold of both. The first overlay is the tree. Without any nothing is mounted.
func NewNamespace(ctx context.Context, overlays []Mount, addresses []string) (*Namespace, error) {
	c := exec.CommandContext(ctx, "/proc/self/exe")
	c.Args, c.Env = []string{mountName, strings.Join(addresses, ",")}, []string{}
	for _, o := range overlays {
		if err := vacant(o.Target); err != nil {
			return nil, err
		}
		c.Args = append(c.Args, o.Lower, o.Layer.Path, o.Target)
	}
	c.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Cloneflags: unix.CLONE_NEWUSER, AmbientCaps: mountRights,
		// Seen as another user's, every file would be one that git has to look into.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
	}
	n := &Namespace{}
	if err := n.takeHold(c, overlays, len(addresses)); err != nil {
		n.Close()
		return nil, fmt.Errorf("make namespaces: %w", err)
	}
	return n, nil
}

// takeHold starts the program that mounts and listens, opens its namespaces, and lets it end.
func (n *Namespace) takeHold(c *exec.Cmd, overlays []Mount, listeners int) error {
	if len(overlays) > 0 {
		c.SysProcAttr.Cloneflags |= unix.CLONE_NEWNS
	}
	var handover *egress.Handover
	if listeners > 0 {
		c.SysProcAttr.Cloneflags |= unix.CLONE_NEWNET
		h, err := egress.NewHandover()
		if err != nil {
			return err
		}
		defer func() { _ = h.Close() }()
		c.ExtraFiles, handover = []*os.File{h.Inside}, h
	}
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
		err = n.open(c, overlays)
	} else if said != "" {
		err = errors.New(said)
	}
	if err == nil && handover != nil {
		n.listeners, err = handover.Listeners(listeners)
	}
	return errors.Join(err, stdin.Close(), c.Wait())
}

// maxSaid bounds what is read of a complaint.
const maxSaid = 4 << 10

// open opens those of a program's namespaces that are its own.
func (n *Namespace) open(c *exec.Cmd, overlays []Mount) (err error) {
	proc := fmt.Sprintf("/proc/%d/", c.Process.Pid)
	if n.user, err = os.Open(proc + "ns/user"); err != nil {
		return err
	}
	if c.SysProcAttr.Cloneflags&unix.CLONE_NEWNET != 0 {
		if n.network, err = os.Open(proc + "ns/net"); err != nil {
			return err
		}
	}
	if len(overlays) == 0 {
		return nil
	}
	if n.mounts, err = os.Open(proc + "ns/mnt"); err != nil {
		return err
	}
	n.root, err = os.OpenFile(proc+"root", unix.O_PATH|unix.O_DIRECTORY, 0)
	if tree := overlays[0].Target; err == nil && !n.Shows(tree) {
		err = fmt.Errorf("nothing is mounted on %s", tree)
	}
	return err
}

// Listen is what listens in the network, for one command: serving it ends with closing it.
func (n *Namespace) Listen() (listeners []net.Listener, err error) {
	for _, l := range n.listeners {
		file, err := l.(*net.TCPListener).File()
		if err == nil {
			l, err = net.FileListener(file)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, fmt.Errorf("listen inside: %w", err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}
