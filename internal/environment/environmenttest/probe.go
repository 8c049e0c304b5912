package environmenttest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// probeVariable, when it is set, makes the test binary one of probes instead, with the argument
// that is its value: so whatever runs inside of an environment is the same program everywhere.
const (
	probeVariable    = "SIGNALBOX_TEST_PROBE"
	argumentVariable = "SIGNALBOX_TEST_ARGUMENT"
)

// probeTime bounds what one probe waits for an answer.
const probeTime = 30 * time.Second

// reached is how a probe says that it came through.
const reached = "reached\n"

func init() {
	probe, ok := probes[os.Getenv(probeVariable)]
	if !ok || filepath.Base(os.Args[0]) == egress.EnterName { // which becomes the probe in a moment
		return
	}
	if err := probe(os.Getenv(argumentVariable)); err != nil {
		fmt.Println("refused:", err)
	} else {
		fmt.Print(reached)
	}
	os.Exit(0)
}

// probes try to reach something; nil means that they did.
var probes = map[string]func(argument string) error{
	"file":     func(path string) error { _, err := os.Stat(path); return err },
	"read":     probeRead,
	"loopback": probeLoopback,
	"write":    probeWrite,
	"tcp":      probeTCP,
	"unix":     probeUnix,
	"http":     func(address string) error { return ask(http.ProxyFromEnvironment, address) }, // as tools do
	"proxy":    probeProxy,
	"key":      probeKey,
	"trace":    func(pid string) error { return onProcess(pid, unix.PtraceAttach) },
	"signal":   func(pid string) error { return onProcess(pid, func(p int) error { return unix.Kill(p, 0) }) },
	"mount":    func(string) error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") },
	"device":   probeDevice,
	"setting":  func(string) error { return unix.Sethostname([]byte("other")) },
	"rights":   probeRights,
}

// probeRead wants content: an empty file in the place of one is nothing.
func probeRead(path string) error {
	content, err := os.ReadFile(path)
	if err == nil && len(content) == 0 {
		err = errors.New("empty")
	}
	return err
}

func probeWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func probeTCP(address string) error {
	conn, err := net.DialTimeout("tcp", address, probeTime)
	if err != nil {
		return err
	}
	// Something else may listen there: only the server that was meant greets.
	_ = conn.SetDeadline(time.Now().Add(probeTime))
	greeting := make([]byte, len(hello))
	if _, err = io.ReadFull(conn, greeting); err == nil && string(greeting) != hello {
		err = fmt.Errorf("greeted with %q", greeting)
	}
	return err
}

func probeLoopback(string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.WriteString(conn, hello)
		}
	}()
	return probeTCP(l.Addr().String())
}

func probeUnix(address string) error {
	conn, err := net.DialTimeout("unix", address, probeTime)
	if err != nil {
		return err
	}
	return conn.Close()
}

// probeProxy asks the proxy for what tools would never ask it.
func probeProxy(address string) error {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil || proxy.Host == "" {
		return fmt.Errorf("there is no proxy: %w", err)
	}
	return ask(http.ProxyURL(proxy), address)
}

func ask(proxy func(*http.Request) (*url.URL, error), address string) error {
	client := &http.Client{Timeout: probeTime, Transport: &http.Transport{Proxy: proxy}}
	response, err := client.Get(address)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(body))
	}
	return nil
}

func probeKey(name string) error {
	for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING} {
		if _, err := unix.KeyctlSearch(ring, "user", name, 0); err == nil {
			return nil
		}
	}
	return errors.New("no such key")
}

func onProcess(pid string, do func(int) error) error {
	number, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	return do(number)
}

func probeDevice(string) error {
	const zero = 1<<8 | 5
	return unix.Mknod(os.Getenv("TMPDIR")+"/device", unix.S_IFCHR|0o600, zero)
}

// probeRights makes a user namespace, in which a program has every capability.
func probeRights(string) error {
	c := exec.Command("/bin/true")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	return c.Run()
}

// probe runs a probe by in, process.Host to show that there is something to be reached, and returns what it said.
func probe(t *testing.T, in process.Executor, name, argument string, reaches ...string) string {
	t.Helper()
	var said bytes.Buffer
	c := probeCommand(t, name, argument)
	c.Stdout, c.Total, c.Reaches = &said, 5*time.Minute, reaches
	r, err := in.Exec(t.Context(), c)
	if err != nil || !r.OK() {
		t.Fatalf("probe %s %s by %T: %+v, %v, %s", name, argument, in, r, err, said.String())
	}
	return said.String()
}

func probeCommand(t *testing.T, name, argument string) process.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{probeVariable + "=" + name, argumentVariable + "=" + argument, "GORACE=atexit_sleep_ms=0"}
	return process.Command{Args: []string{self}, Env: env, Reads: []string{self}}
}
