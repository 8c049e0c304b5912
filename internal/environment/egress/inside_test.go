package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The test binary is also the program that Enter is, and a client for the namespaces.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case EnterName:
		Enter(context.Background(), os.Args[1:])
	case "signalbox-forward":
		forwardFor(os.Args[1], strings.Split(os.Args[2], ","))
	case "signalbox-get":
		for _, address := range os.Args[1:] {
			fmt.Println(fetch(address))
		}
		os.Exit(7)
	}
	os.Exit(m.Run())
}

func fetch(address string) string {
	response, err := http.Get(address)
	if err != nil {
		return "error"
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return fmt.Sprintln(response.StatusCode, string(body), err)
}

// forwardFor is the inside part of a container: it forwards, and runs the client.
func forwardFor(socket string, addresses []string) {
	if err := RaiseLoopback(); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- Forward(ctx, addresses, socket) }()
	// The client finds no listener until Forward listens.
	for _, address := range addresses {
		for {
			if c, err := net.Dial("tcp", address); err == nil {
				_ = c.Close()
				break
			}
		}
	}
	fmt.Print(fetch(os.Args[3]), fetch(os.Args[4]))
	cancel()
	fmt.Println("ended", <-ended)
	os.Exit(0)
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// root skips what only root may do here, and fails where everything must be tested.
func root(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("needs root for a network namespace")
	}
	t.Skip("needs root for a network namespace")
}

func TestANamespaceIsListenedInFromOutside(t *testing.T) {
	t.Parallel()
	root(t)
	address, elsewhere := registry(t), registry(t)
	p := policy(t, []string{address}, nil)
	n, err := NewNamespace(t.Context(), p.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	stop := serveIn(t, p, n.Listeners)
	var out bytes.Buffer
	// To the address itself, through the proxy, and to an address that isn't allowed.
	c := exec.Command("nsenter", "--net=/proc/self/fd/3", "bash", "-c",
		`exec -a signalbox-get "$@"`, "bash", self(t), "http://"+address+"/", "http://"+elsewhere+"/", "http://example.org/")
	c.Env, c.Stdout, c.Stderr = Variables(nil), &out, &out
	c.ExtraFiles = []*os.File{n.File}
	if err := c.Run(); c.ProcessState.ExitCode() != 7 {
		t.Fatal(err, out.String())
	}
	want := fmt.Sprintf("200 GET %s  [] <nil>\n\nerror\n403 signalbox: blocked: example.org is not in environment.allow\n <nil>\n\n", address)
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	stop()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// serveIn serves listeners until stop.
func serveIn(t *testing.T, p Policy, listeners []net.Listener) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- New(Config{Policy: p}).Serve(ctx, listeners, nil) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// entered runs the test binary as Enter in namespaces of its own, and args by it.
func entered(t *testing.T, addresses []string, args ...string) (*Handover, *exec.Cmd, *bytes.Buffer) {
	t.Helper()
	h, err := NewHandover()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	var out bytes.Buffer
	c := exec.Command(self(t))
	c.Args = append([]string{EnterName}, EnterArguments(3, addresses, args)...)
	c.Env, c.Stdout, c.Stderr = Variables([]string{"PATH=/usr/bin:/bin"}), &out, &out
	c.Env = append(c.Env, "PATH=/usr/bin:/bin")
	c.ExtraFiles = []*os.File{h.Inside}
	return h, c, &out
}

func TestAProgramThatEnteredHasHandedItsListenersOver(t *testing.T) {
	t.Parallel()
	address := registry(t)
	p := policy(t, []string{address}, nil)
	free := []string{"127.0.0.1:0", "127.0.0.1:0"}
	h, c, out := entered(t, free, "sh", "-c", "read -r line && readlink /proc/$$/fd/* | grep ^socket: ; kill -TERM $$")
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	listeners, err := h.Listeners(2)
	if err != nil {
		t.Fatal(err)
	}
	stop := serveIn(t, p, listeners)
	if got := fetch("http://" + listeners[1].Addr().String() + "/"); !strings.HasPrefix(got, "200 GET "+listeners[1].Addr().String()) {
		t.Errorf("got %q", got)
	}
	_, _ = io.WriteString(stdin, "go\n")
	_ = c.Wait()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("ended with %v, want the program's own signal", c.ProcessState)
	}
	if out.String() != "" {
		t.Errorf("the program has the sockets %q", out.String())
	}
	stop()
	if err := h.Complaint(); err != nil {
		t.Error(err)
	}
}

func TestAMissingProgramIsReportedAsMissing(t *testing.T) {
	t.Parallel()
	h, c, _ := entered(t, []string{"127.0.0.1:0"}, "no-such-program")
	_ = c.Run()
	if listeners, err := h.Listeners(1); err != nil || len(listeners) != 1 {
		t.Errorf("got %v, %v", listeners, err)
	} else {
		closeAll(listeners)
	}
	if err := h.Complaint(); err == nil || !strings.Contains(err.Error(), `start "no-such-program"`) {
		t.Errorf("got %v", err)
	}
}

func TestATakenAddressIsReportedAsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	h, c, _ := entered(t, []string{l.Addr().String()}, "true")
	_ = c.Run()
	if listeners, err := h.Listeners(1); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("got %v, %v", listeners, err)
	}
}

func TestWaitersForListenersAreReleased(t *testing.T) {
	t.Parallel()
	h, err := NewHandover()
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() { _, err := h.Listeners(1); waiting <- err }()
	_ = h.Close()
	if err := <-waiting; err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestForwardLeadsOutOfANamespaceThroughASocket(t *testing.T) {
	t.Parallel()
	root(t)
	address := registry(t)
	p := policy(t, []string{address}, nil)
	socket := filepath.Join(t.TempDir(), "proxy")
	if l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"}); err != nil { // left by a killed one
		t.Fatal(err)
	} else {
		l.SetUnlinkOnClose(false)
		_ = l.Close()
	}
	l, err := ListenUnix(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	stop := serveIn(t, p, []net.Listener{l})
	var out bytes.Buffer
	c := exec.Command(self(t))
	c.Args = []string{"signalbox-forward", socket, strings.Join(p.Addresses(), ","), "http://" + address + "/", "http://example.org/"}
	c.Env, c.Stdout, c.Stderr = Variables(nil), &out, &out
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := c.Run(); err != nil {
		t.Fatal(err, out.String())
	}
	want := fmt.Sprintf("200 GET %s  [] <nil>\n403 signalbox: blocked: example.org is not in environment.allow\n <nil>\nended <nil>\n", address)
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	stop()
}
