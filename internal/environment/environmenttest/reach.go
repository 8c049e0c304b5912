package environmenttest

import (
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// attempt is a probe that must fail inside.
type attempt struct {
	what, probe, argument string
	// shown: the same probe succeeds on this machine, which proves that the target exists.
	shown bool
}

// testOutOfReach tries everything that an agent could gain by leaving its environment.
func testOutOfReach(t *testing.T, s *site) {
	attempts := append(s.filesOutOfReach(t), s.systemOutOfReach(t)...)
	sites := map[string]*site{"": s}
	if s.Connected != nil {
		sites = map[string]*site{egress.None: s.connected(t, egress.None), egress.Registries: s.connected(t, egress.Registries)}
		abstract := "@signalbox-test-" + rand.Text()
		greet(t, "unix", abstract)
		attempts = append(attempts,
			attempt{"a server on this machine", "tcp", greet(t, "tcp", "127.0.0.1:0"), true},
			attempt{"an abstract socket of this machine", "unix", abstract, true},
			attempt{"the service that has a cloud machine's credentials", "tcp", "169.254.169.254:80", false},
			attempt{"that service by the proxy", "proxy", "http://169.254.169.254/latest/meta-data/", false},
			attempt{"a server on this machine by the proxy", "proxy", "http://" + greet(t, "tcp", "127.0.0.1:0") + "/", false},
			attempt{"a name server", "tcp", "1.1.1.1:53", false})
	}
	shown := slices.DeleteFunc(slices.Clone(attempts), func(a attempt) bool { return !a.shown })
	for i, got := range probeAll(t, process.Host{}, nil, shown...) {
		if got != reached {
			t.Errorf("%s can't be reached even from this machine, so the test proves nothing: %s", shown[i].what, got)
		}
	}
	for network, on := range sites {
		for i, got := range probeAll(t, on, nil, attempts...) {
			if got == reached {
				t.Errorf("%s was reached %s", attempts[i].what, network)
			}
		}
	}
}

// filesOutOfReach returns the documents of the project and the secrets of the user.
func (s *site) filesOutOfReach(t *testing.T) []attempt {
	t.Helper()
	other := s.make(t, s.Project.Spec("other"))
	if r, err := other.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "echo x >secret"}}); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	for _, name := range []string{"environments.json", "runs/RQ-1/20260101-000000-abcdef/stage.json", ".signalbox/config.yaml"} {
		s.Project.Write(t, name, "{}")
	}
	home := filepath.Join(t.TempDir(), ".ssh", "id_ed25519") // unlike HOME, in no folder that commands see
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home, []byte("key"), 0o644); err != nil {
		t.Fatal(err)
	}
	root := s.Project.Root
	attempts := []attempt{
		{"a file of a home folder", "file", home, true},
		{"this machine's home folder", "file", hostHome(t, s), false},
		{"the list of environments", "file", root + "/environments.json", true},
		{"a run", "file", root + "/runs/RQ-1/20260101-000000-abcdef/stage.json", true},
		{"the configuration", "file", root + "/.signalbox/config.yaml", true},
		{"the project's repository", "file", root + "/.git/config", true},
		{"another clone", "file", filepath.Join(s.found(t, other, s.Project.Spec("other")), "README.md"), true},
		{"this machine's root through a process", "file", "/proc/1/root" + root + "/README.md", false},
		{"a process's folder of this machine", "file", "/proc/" + strconv.Itoa(os.Getpid()) + "/status", true},
	}
	for _, socket := range []string{"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"} {
		attempts = append(attempts, attempt{"the socket " + socket, "file", socket, false})
	}
	return attempts
}

// systemOutOfReach returns attempts on the machine itself.
func (s *site) systemOutOfReach(t *testing.T) []attempt {
	t.Helper()
	stranger := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	pid := strconv.Itoa(stranger.Process.Pid)
	attempts := []attempt{
		{"a process of this machine", "signal", pid, true},
		{"a process of this machine, to trace it", "trace", pid, false},
		{"a mount", "mount", "", false},
		{"a device", "device", "", false},
		{"the host name", "setting", "", false},
		{"a user namespace", "rights", "", true},
	}
	written := []string{"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmsg"}
	if !s.OwnSystem {
		written = append(written, "/etc/passwd", "/usr/bin/env")
		attempts = append(attempts, attempt{"a file that not every user may read", "read", "/etc/shadow", os.Geteuid() == 0})
	}
	for _, path := range written {
		attempts = append(attempts, attempt{"writing to " + path, "write", path, false})
	}
	name := "signalbox-test-" + rand.Text()
	// A machine without keyrings has none to hide.
	if _, err := unix.AddKey("user", name, []byte("secret"), unix.KEY_SPEC_USER_KEYRING); err == nil {
		attempts = append(attempts, attempt{"a key of the user", "key", name, true})
	}
	return attempts
}

// hello is our servers' greeting.
const hello = "hello from outside\n"

// greet starts a server that says hello to each client until the test ends.
func greet(t *testing.T, network, address string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(hello))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// testNoForeignVariables looks for the values of this machine's variables.
func testNoForeignVariables(t *testing.T, s *site) {
	inside := s.must(t, "tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/1/environ 2>/dev/null || true")
	for _, assignment := range os.Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		if len(value) > 8 && !strings.Contains(strings.Join(Variables, "\n"), value) && strings.Contains(inside, assignment) {
			t.Errorf("the variable %s came in", name)
		}
	}
}
