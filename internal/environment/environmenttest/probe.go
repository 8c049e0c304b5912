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

// probeVariable, when it is set, makes the test binary run probes instead: each a name and an argument, apart by a tab, one
// probe from the next by a bar. So the same program runs inside every environment.
const probeVariable = "SIGNALBOX_TEST_PROBES"

// probeTime bounds how long a probe waits for an answer.
const probeTime = 30 * time.Second

// reached is the answer of a probe that reached its target.
const reached = "reached"

func init() {
	list := os.Getenv(probeVariable)
	if list == "" || filepath.Base(os.Args[0]) == egress.EnterName { // which becomes the probe in a moment
		return
	}
	for _, probe := range strings.Split(list, "|") {
		name, argument, _ := strings.Cut(probe, "\t")
		err := errUnknown
		for _, probes := range []func(name, argument string) error{probeFile, probeNetwork, probeSystem} {
			if errors.Is(err, errUnknown) {
				err = probes(name, argument)
			}
		}
		if err != nil {
			fmt.Println("refused:", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println(reached)
		}
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

// probe runs a probe with in and returns its answer.
func probe(t *testing.T, in process.Executor, name, argument string) string {
	t.Helper()
	return probeAll(t, in, nil, attempt{probe: name, argument: argument})[0]
}

// probeAll runs probes with in, by one command, and returns their answers. With process.Host they show that there are targets to
// reach.
func probeAll(t *testing.T, in process.Executor, reaches []string, attempts ...attempt) []string {
	t.Helper()
	var said bytes.Buffer
	c := probeCommand(t, attempts...)
	c.Stdout, c.Total, c.Reaches = &said, 5*time.Minute, reaches
	r, err := in.Exec(t.Context(), c)
	answers := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
	if err != nil || !r.OK() || len(answers) != len(attempts) || strings.Contains(said.String(), errUnknown.Error()) {
		t.Fatalf("probes %+v by %T: %+v, %v, %s", attempts, in, r, err, said.String())
	}
	return answers
}

func probeCommand(t *testing.T, attempts ...attempt) process.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, a := range attempts {
		list = append(list, a.probe+"\t"+a.argument)
	}
	env := []string{probeVariable + "=" + strings.Join(list, "|"), "GORACE=atexit_sleep_ms=0"}
	return process.Command{Args: []string{self}, Env: env, Reads: []string{self}}
}
