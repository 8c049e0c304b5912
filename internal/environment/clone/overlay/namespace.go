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

// Namespace is a mount namespace of our own, in which an environment's overlays are mounted, and the user namespace that
// lets us mount there. Only the environment's commands live in it. Open files hold it, so it ends with the last process
// that has them, however that process ends, and nothing has to be unmounted.
type Namespace struct {
	// record is the file that lists its holders. While that file, and no other, is in its place the namespace is the
	// environment's.
	record *os.File
	user   *os.File
	mounts *os.File
	root   *os.File // its root folder, through which we reach the files in it

	// network is its own network namespace with its listeners. It is nil if none was asked for or another process made
	// it. One command at a time uses it.
	network   *os.File
	listeners []net.Listener
	taken     atomic.Bool
}

// Take takes the namespace's network for one command, until giveBack is called. It returns nil if there is none, or another
// command has it.
func (n *Namespace) Take() (giveBack func()) {
	if n.network == nil || !n.taken.CompareAndSwap(false, true) {
		return nil
	}
	return func() { n.taken.Store(false) }
}

// Flags returns the options with which nsenter enters it, with its network or without.
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

// Close closes the files that hold it; n may be nil.
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

// IsListedIn reports whether the record is this namespace's; n may be nil.
func (n *Namespace) IsListedIn(record fs.FileInfo) bool {
	if n == nil {
		return false
	}
	ours, err := n.record.Stat()
	return err == nil && os.SameFile(ours, record)
}

// Path returns the path by which this process finds a path of the namespace. If n is nil that is the path itself.
func (n *Namespace) Path(inside string) string {
	if n == nil {
		return inside
	}
	return descriptor("self", n.root) + inside
}

// Shows reports whether an overlay is mounted at a path of the namespace. The kernel unmounts it if a user deletes the mount
// point.
func (n *Namespace) Shows(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(n.Path(path), &s) == nil && s.Type == unix.OVERLAYFS_SUPER_MAGIC
}

func descriptor(pid string, f *os.File) string {
	return "/proc/" + pid + "/fd/" + strconv.Itoa(int(f.Fd()))
}

// NewNamespace mounts overlays in a new namespace, listens at addresses in a network of its own, and opens both. There
// may be no overlays, or no addresses.
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
		// If the files seemed to be another user's, git would have to look into each.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
	}
	n := &Namespace{}
	if err := n.start(c, overlays, len(addresses)); err != nil {
		n.Close()
		return nil, fmt.Errorf("make namespaces: %w", err)
	}
	return n, nil
}

// start starts the program that mounts and listens, opens its namespaces, and lets it end.
func (n *Namespace) start(c *exec.Cmd, overlays []Mount, listeners int) error {
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

// maxSaid bounds the error message that is read from the program.
const maxSaid = 4 << 10

// open opens the namespaces that the program made.
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
	if first := overlays[0].Target; err == nil && !n.Shows(first) {
		err = fmt.Errorf("nothing is mounted on %s", first)
	}
	return err
}

// Listen returns duplicates of the network's listeners for one command, whose server closes them.
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
