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
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// probeVariable, when it is set, makes the test binary run a probe instead, with its argument in argumentVariable. So the same
// program runs inside every environment.
const (
	probeVariable    = "SIGNALBOX_TEST_PROBE"
	argumentVariable = "SIGNALBOX_TEST_ARGUMENT"
)

// probeTime bounds how long a probe waits for an answer.
const probeTime = 30 * time.Second

// reached is the output of a probe that reached its target.
const reached = "reached\n"

func init() {
	name, argument := os.Getenv(probeVariable), os.Getenv(argumentVariable)
	if name == "" || filepath.Base(os.Args[0]) == egress.EnterName { // which becomes the probe in a moment
		return
	}
	err := errUnknown
	for _, probes := range []func(name, argument string) error{probeFile, probeNetwork, probeSystem} {
		if errors.Is(err, errUnknown) {
			err = probes(name, argument)
		}
	}
	if err != nil {
		fmt.Println("refused:", err)
	} else {
		fmt.Print(reached)
	}
	os.Exit(0)
}

var errUnknown = errors.New("there is no such probe")

// probeFile tries to use a file.
func probeFile(name, path string) error {
	switch name {
	case "file":
		_, err := os.Stat(path)
		return err
	case "read":
		content, err := os.ReadFile(path)
		if err == nil && len(content) == 0 {
			err = errors.New("empty") // the sandbox may have put an empty file in its place
		}
		return err
	case "write":
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return errUnknown
}

// probeNetwork tries to reach an address.
func probeNetwork(name, address string) error {
	proxy := http.ProxyFromEnvironment // as tools do
	switch name {
	case "loopback":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = io.WriteString(conn, hello)
			}
		}()
		return probeNetwork("tcp", l.Addr().String())
	case "tcp", "unix":
		conn, err := net.DialTimeout(name, address, probeTime)
		if err != nil || name == "unix" {
			return err
		}
		// Another server may listen there: only ours greets.
		_ = conn.SetDeadline(time.Now().Add(probeTime))
		greeting := make([]byte, len(hello))
		if _, err = io.ReadFull(conn, greeting); err == nil && string(greeting) != hello {
			err = fmt.Errorf("greeted with %q", greeting)
		}
		return err
	case "proxy": // asks the proxy for addresses that tools would never ask it for
		at, err := url.Parse(os.Getenv("HTTP_PROXY"))
		if err != nil || at.Host == "" {
			return fmt.Errorf("there is no proxy: %w", err)
		}
		proxy = http.ProxyURL(at)
	case "http":
	default:
		return errUnknown
	}
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

// probeSystem tries to change or see the machine; a process is named by its id.
func probeSystem(name, argument string) error {
	pid, _ := strconv.Atoi(argument)
	switch name {
	case "trace":
		return unix.PtraceAttach(pid)
	case "signal":
		return unix.Kill(pid, 0)
	case "mount":
		return unix.Mount("none", "/tmp", "tmpfs", 0, "")
	case "device":
		const zero = 1<<8 | 5
		return unix.Mknod(os.Getenv("TMPDIR")+"/device", unix.S_IFCHR|0o600, zero)
	case "setting":
		return unix.Sethostname([]byte("other"))
	case "rights": // a user namespace, in which a program has every capability
		c := exec.Command("/bin/true")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return c.Run()
	case "key":
		for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING} {
			if _, err := unix.KeyctlSearch(ring, "user", argument, 0); err == nil {
				return nil
			}
		}
		return errors.New("no such key")
	}
	return errUnknown
}

// probe runs a probe with in and returns its output. With process.Host it shows that there is a target to reach.
func probe(t *testing.T, in process.Executor, name, argument string, reaches ...string) string {
	t.Helper()
	var said bytes.Buffer
	c := probeCommand(t, name, argument)
	c.Stdout, c.Total, c.Reaches = &said, 5*time.Minute, reaches
	r, err := in.Exec(t.Context(), c)
	if err != nil || !r.OK() || strings.Contains(said.String(), errUnknown.Error()) {
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
