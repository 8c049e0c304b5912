package environmenttest

import (
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// attempt is something that nothing inside may do.
type attempt struct {
	what, probe, argument string
	// shown: the same probe comes through on this machine, so there is something to keep away.
	shown bool
}

// testOutOfReach tries whatever an agent could gain by leaving its environment.
func testOutOfReach(t *testing.T, s *site) {
	attempts := append(s.filesOutOfReach(t), s.systemOutOfReach(t)...)
	if s.Connected == nil {
		s.expectRefusals(t, attempts)
		return
	}
	for _, network := range []string{egress.None, egress.Registries} {
		t.Run(network, func(t *testing.T) {
			connected := s.connected(t, network)
			connected.expectRefusals(t, append(attempts, networkOutOfReach(t)...))
		})
	}
}

func (s *site) expectRefusals(t *testing.T, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		if a.shown {
			if got := probe(t, process.Host{}, a.probe, a.argument); got != reached {
				t.Errorf("%s cannot be reached even from this machine, so nothing is proven: %s", a.what, got)
			}
		}
		if got := probe(t, s, a.probe, a.argument); got == reached {
			t.Errorf("%s was reached", a.what)
		}
	}
}

// filesOutOfReach returns the documents of the project and the secrets of who runs Signalbox.
func (s *site) filesOutOfReach(t *testing.T) []attempt {
	t.Helper()
	other := s.make(t, s.Project.Spec("other"))
	if r, err := other.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", "echo x >secret"}}); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	for _, name := range []string{"environments.json", "runs/RQ-1/20260101-000000-abcdef/stage.json", ".signalbox/config.yaml"} {
		s.Project.Write(t, name, "{}")
	}
	home := filepath.Join(t.TempDir(), ".ssh", "id_ed25519") // in no folder that commands see, as HOME is
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

// systemOutOfReach returns what belongs to the machine and to no folder.
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
		attempts = append(attempts, attempt{"a file that is not for everybody", "read", "/etc/shadow", os.Geteuid() == 0})
	}
	for _, path := range written {
		attempts = append(attempts, attempt{"writing to " + path, "write", path, false})
	}
	name := "signalbox-test-" + rand.Text()
	// A machine without keyrings has none to keep away.
	if _, err := unix.AddKey("user", name, []byte("secret"), unix.KEY_SPEC_USER_KEYRING); err == nil {
		attempts = append(attempts, attempt{"a key of the user", "key", name, true})
	}
	return attempts
}

// hello is what our servers say first.
const hello = "hello from outside\n"

// networkOutOfReach returns what no network but the whole one leads to.
func networkOutOfReach(t *testing.T) []attempt {
	t.Helper()
	abstract := "@signalbox-test-" + rand.Text()
	greet(t, "unix", abstract)
	return []attempt{
		{"a server on this machine", "tcp", greet(t, "tcp", "127.0.0.1:0"), true},
		{"an abstract socket of this machine", "unix", abstract, true},
		{"the service that has a cloud machine's credentials", "tcp", "169.254.169.254:80", false},
		{"that service by the proxy", "proxy", "http://169.254.169.254/latest/meta-data/", false},
		{"a server on this machine by the proxy", "proxy", "http://" + greet(t, "tcp", "127.0.0.1:0") + "/", false},
		{"a name server", "tcp", "1.1.1.1:53", false},
	}
}

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

// testNoForeignVariables looks for what this machine's environment holds.
func testNoForeignVariables(t *testing.T, s *site) {
	inside := s.must(t, "tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/1/environ 2>/dev/null || true")
	for _, assignment := range os.Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		if len(value) > 8 && !strings.Contains(strings.Join(Variables, "\n"), value) && strings.Contains(inside, assignment) {
			t.Errorf("the variable %s came in", name)
		}
	}
}
