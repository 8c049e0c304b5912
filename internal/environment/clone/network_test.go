package clone_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// The test binary also makes the listeners inside, as the program itself does, and tries filtered calls.
func init() {
	if filepath.Base(os.Args[0]) == egress.EnterName {
		egress.Enter(context.Background(), os.Args[1:])
	}
	if os.Getenv(callsVariable) != "" {
		for _, c := range calls() {
			fmt.Println(c)
		}
		os.Exit(0)
	}
}

func TestNetworkConformance(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*clone.Config){
		"listened in from outside":                   func(*clone.Config) {},
		"listened in by a program inside":            (*clone.Config).Enter,
		"lent from one command to the next":          (*clone.Config).Lend,
		"lent where the folders are mounted as well": func(c *clone.Config) { c.Lend(); c.Warm, c.Cache = clone.Private, 1<<30 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environmenttest.Run(t, environmenttest.Network, func(t *testing.T) environmenttest.Harness {
				p := environmenttest.NewProject(t)
				c := config(t, p)
				change(&c)
				if c.Warm == clone.Private {
					seed(t, p)
				}
				return environmenttest.Harness{Driver: clone.New(c), Folder: found, Project: p, Isolated: true,
					Connected: func(_ *testing.T, network string, policy egress.Policy) environment.Driver {
						c.Network, c.Egress = network, policy
						return clone.New(c)
					}}
			})
		})
	}
}

func TestOnlyOneCommandAtATimeIsInALentNetwork(t *testing.T) {
	t.Parallel()
	for _, way := range []clone.Way{clone.Off, clone.Private} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			p, _ := keeping(t, way)
			c := keepingConfig(t, p, way)
			c.Network = egress.Registries
			c.Lend()
			d := clone.New(c)
			e := made(t, d, p)
			if way == clone.Private {
				e, _ = kept(t, d, p)
			}
			network := func(in io.Reader, out io.Writer) error {
				r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "readlink /proc/self/ns/net; read line"}, Stdin: in, Stdout: out})
				if err == nil && !r.OK() && r.ExitCode != 1 { // 1 is that of read at the end of its input
					err = fmt.Errorf("%+v", r)
				}
				return err
			}
			input, stay := io.Pipe()
			output, printed := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- network(input, printed) }()
			first, err := bufio.NewReader(output).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var beside, after strings.Builder
			if err := network(nil, &beside); err != nil || beside.String() == first {
				t.Errorf("beside one in %q another was in %q, %v", first, beside.String(), err)
			}
			if err := errors.Join(stay.Close(), <-ended); err != nil {
				t.Fatal(err)
			}
			if err := network(nil, &after); err != nil || after.String() != first && after.String() != beside.String() {
				t.Errorf("after those in %q and %q one was in %q, %v", first, beside.String(), after.String(), err)
			}
		})
	}
}

// A command that never ended would leave its limits behind.
func TestAnEnvironmentsCommandsAreLimited(t *testing.T) {
	t.Parallel()
	limits := process.Limits{Memory: 256 << 20, Processes: 60}
	if note := process.LimitsNote(limits); note != "" {
		t.Skip(note)
	}
	p := environmenttest.NewProject(t)
	c := config(t, p)
	c.Limits = limits
	e := made(t, clone.New(c), p)
	var said bytes.Buffer
	r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "head -c 1000000000 /dev/zero | tail; exit 1"}, Stdout: &said, Stderr: &said})
	if err != nil || r.Ending != process.NoMemory {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "i=0; while [ $i -lt 100 ]; do sleep 100 & i=$((i+1)); done"}, Stderr: &said})
	if err != nil || r.OK() || !strings.Contains(said.String(), "ork") { // "Cannot fork"
		t.Errorf("got %+v, %v: %s", r, err, said.String())
	}
}

func TestCallsThatLeaveEveryNamespaceAreRefused(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	e := made(t, clone.New(config(t, p)), p)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	r, err := e.Exec(t.Context(), process.Command{
		Args: []string{self}, Env: []string{callsVariable + "=1"}, Reads: []string{self}, Stdout: &said, Stderr: &said})
	if err != nil || !r.OK() {
		t.Fatal(r, err, said.String())
	}
	want := []string{
		fmt.Sprint("keyctl ", unix.ENOSYS), fmt.Sprint("io_uring_setup ", unix.ENOSYS), fmt.Sprint("bpf ", unix.ENOSYS),
		fmt.Sprint("TIOCSTI ", unix.EPERM), fmt.Sprint("TIOCLINUX ", unix.EPERM), fmt.Sprint("TCGETS ", unix.ENOTTY),
		fmt.Sprint("vsock ", unix.EAFNOSUPPORT), "inet <nil>",
	}
	if got := strings.Split(strings.TrimSpace(said.String()), "\n"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

const callsVariable = "CLONE_TEST_CALLS"

// calls tries calls that the filter refuses, and similar ones that it allows.
func calls() []string {
	_, _, keyctl := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, 0, 0)
	_, _, ring := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	_, _, bpf := unix.Syscall(unix.SYS_BPF, 0, 0, 0)
	char := byte('x')
	_, _, push := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&char)))
	_, _, linux := unix.Syscall(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCLINUX, uintptr(unsafe.Pointer(&char)))
	_, get := unix.IoctlGetTermios(0, unix.TCGETS)
	_, vsock := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	_, inet := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	return []string{
		fmt.Sprint("keyctl ", keyctl), fmt.Sprint("io_uring_setup ", ring), fmt.Sprint("bpf ", bpf),
		fmt.Sprint("TIOCSTI ", push), fmt.Sprint("TIOCLINUX ", linux), fmt.Sprint("TCGETS ", get),
		fmt.Sprint("vsock ", vsock), fmt.Sprint("inet ", inet),
	}
}
