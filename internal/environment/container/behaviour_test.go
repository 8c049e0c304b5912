package container_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

func made(t testing.TB, d *container.Driver, s environment.Spec) environment.Environment {
	t.Helper()
	e, err := d.Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run runs a script inside and returns what it printed, both streams.
func run(t testing.TB, e environment.Environment, script string) (process.Result, string, error) {
	t.Helper()
	var out bytes.Buffer
	r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", script}, Stdout: &out, Stderr: &out, Total: 2 * time.Minute})
	return r, out.String(), err
}

func must(t testing.TB, e environment.Environment, script string) string {
	t.Helper()
	r, out, err := run(t, e, script)
	if err != nil || !r.OK() {
		t.Fatalf("%q: %+v, %v: %s", script, r, err, out)
	}
	return out
}

// open is a project with one environment in a container.
func open(t *testing.T, change func(*container.Config)) (containertest.Docker, *environmenttest.Project, *container.Driver, environment.Environment) {
	t.Helper()
	docker, p := containertest.New(t), environmenttest.NewProject(t)
	c := config(t, docker, p)
	if change != nil {
		change(&c)
	}
	d := container.New(c)
	return docker, p, d, made(t, d, p.Spec("site"))
}

func TestAContainerGetsNothingItIsNotGiven(t *testing.T) {
	t.Parallel()
	docker, p, _, e := open(t, func(c *container.Config) { c.Limits = process.Limits{Memory: 256 << 20, CPUs: 1.5, Processes: 100} })
	ids := docker.Containers(t, p.Root)
	if len(ids) != 1 {
		t.Fatalf("containers %v", ids)
	}
	for format, want := range map[string]string{
		"{{.HostConfig.Privileged}} {{.HostConfig.CapDrop}} {{.HostConfig.CapAdd}} {{.HostConfig.SecurityOpt}}":          "false [ALL] [] [no-new-privileges]",
		"{{.HostConfig.RestartPolicy.Name}} {{.HostConfig.NetworkMode}} {{.HostConfig.PidMode}}|{{.HostConfig.Devices}}": "no none |[]",
		"{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}}":           "268435456 268435456 1500000000 100",
		`{{index .Config.Labels "signalbox.project"}} {{index .Config.Labels "signalbox.env"}}`:                          p.Root + " site",
	} {
		if got := docker.Docker(t, "inspect", "--format", format, ids[0]); got != want {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
	shown := strings.Fields(docker.Docker(t, "inspect", "--format", "{{range .Mounts}}{{.Destination}}:{{.RW}} {{end}}", ids[0]))
	slices.Sort(shown)
	if want := []string{"/home/signalbox:true", "/run/signalbox-egress:false", "/run/signalbox:true", "/usr/libexec/signalbox-exec-server:false",
		"/workspace:true"}; !slices.Equal(shown, want) {
		t.Errorf("it shows %q, want %q", shown, want)
	}
	for _, script := range []string{"test -e /var/run/docker.sock", "test -e " + p.Root, "ls /proc/1/root/", "cat /proc/1/environ", "mount -t tmpfs x /mnt",
		"echo x >/usr/libexec/" + execserver.Name, "chroot / true", "echo 1 >/proc/sys/kernel/panic", "dmesg", "kill -STOP 1 && kill -0 1 && cat /proc/1/mem"} {
		if r, out, err := run(t, e, script); err != nil || r.OK() {
			t.Errorf("%q was possible (%v): %s", script, err, out)
		}
	}
}

func TestTooMuchMemoryEndsTheProgramAndNotTheContainer(t *testing.T) {
	t.Parallel()
	_, _, _, e := open(t, func(c *container.Config) { c.Limits.Memory = 128 << 20 })
	r, out, err := run(t, e, "head -c 1000000000 /dev/zero | tail -c 999999999 >/dev/null; exit $?")
	if err != nil || r.OK() || r.ExitCode != 137 && r.Ending != process.NoMemory {
		t.Errorf("got %+v, %v, %s", r, err, out)
	}
	must(t, e, "true")
}

func TestAForkBombIsHeld(t *testing.T) {
	t.Parallel()
	_, _, _, e := open(t, func(c *container.Config) { c.Limits.Processes = 64 })
	r, _, err := run(t, e, "i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; wait")
	if err != nil || r.OK() {
		t.Errorf("got %+v, %v", r, err)
	}
	must(t, e, "true")
}

func TestAProcessThatLeavesItsGroupAndEnvironmentEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	_, _, _, e := open(t, nil)
	must(t, e, `mkfifo /tmp/up && { env -i setsid sh -c 'echo up >/tmp/up; exec sleep 1000' >/dev/null 2>&1 & } && read -r line </tmp/up`)
	if seen := must(t, e, "grep -als '[s]leep' /proc/[0-9]*/cmdline || true"); seen != "" {
		t.Errorf("still running: %s", seen)
	}
}

func TestAServerThatIsEndedFromInsideIsALostCommandAndThenAnotherServer(t *testing.T) {
	t.Parallel()
	_, _, _, e := open(t, nil)
	must(t, e, "echo here >/opt/file")
	for _, script := range []string{
		"kill -9 $PPID; sleep 1000", // the server
		"rm -f /run/signalbox/exec.sock; kill -9 $PPID; sleep 1000",
	} {
		if r, _, err := run(t, e, script); !errors.Is(err, execserver.ErrLost) || r.OK() {
			t.Errorf("%q: got %+v, %v", script, r, err)
		}
		if got := must(t, e, "cat /opt/file"); got != "here\n" {
			t.Errorf("afterwards: %q", got)
		}
	}
}

func TestAnImpostorAtTheSocketIsRefused(t *testing.T) {
	t.Parallel()
	docker, p, _, e := open(t, nil)
	folder := filepath.Join(state(p), "site", "run")
	for name, take := range map[string]func(socket string) error{
		"a file":              func(s string) error { return os.WriteFile(s, []byte("garbage"), 0o600) },
		"a link to Docker":    func(s string) error { return os.Symlink(strings.TrimPrefix(docker.Host, "unix://"), s) },
		"nothing":             func(string) error { return nil },
		"a socket of another": func(s string) error { return listenBriefly(t, s) },
	} {
		socket := filepath.Join(folder, execserver.Socket)
		if err := os.Remove(socket); err != nil {
			t.Fatal(err)
		}
		if err := take(socket); err != nil {
			t.Fatal(err)
		}
		if got := must(t, e, "echo real"); got != "real\n" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// listenBriefly listens at path until the test's end and answers every command with success.
func listenBriefly(t *testing.T, path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	t.Cleanup(func() { _, _ = l.Close(), dir.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("r\x00\x00\x00\x13{\"ending\":\"exited\"}"))
			_ = conn.Close()
		}
	}()
	return nil
}

func TestAFolderThatIsBuiltAnewIsShownToTheNextCommand(t *testing.T) {
	t.Parallel()
	_, p, d, e := open(t, nil)
	must(t, e, "echo old >old")
	if err := os.RemoveAll(filepath.Join(p.Root, p.Spec("site").Dir)); err != nil {
		t.Fatal(err)
	}
	made(t, d, p.Spec("site"))
	if got := must(t, e, "ls -A; cat README.md"); strings.Contains(got, "old") || !strings.Contains(got, "a project") {
		t.Errorf("the container shows %q", got)
	}
}

func TestAStoppedAndARemovedContainerAreThereForTheNextCommand(t *testing.T) {
	t.Parallel()
	docker, p, d, e := open(t, nil)
	must(t, e, "echo own >/opt/file")
	docker.Docker(t, append([]string{"kill"}, docker.Containers(t, p.Root)...)...)
	if got := must(t, e, "cat /opt/file"); got != "own\n" {
		t.Errorf("after a stop: %q", got)
	}
	docker.Docker(t, append([]string{"rm", "--force"}, docker.Containers(t, p.Root)...)...)
	must(t, e, "test ! -e /opt/file")
	other := container.New(config(t, docker, p))
	attached, err := other.Attach(t.Context(), p.Spec("site"))
	if err != nil {
		t.Fatal(err)
	}
	must(t, attached, "true")
	again := made(t, d, p.Spec("site"))
	must(t, again, "true")
	if ids := docker.Containers(t, p.Root); len(ids) != 1 {
		t.Errorf("containers: %v", ids)
	}
}

func TestAnotherConfigurationReplacesTheContainer(t *testing.T) {
	t.Parallel()
	docker, p, _, _ := open(t, nil)
	before := docker.Containers(t, p.Root)
	c := config(t, docker, p)
	c.Limits.Processes = 77
	must(t, made(t, container.New(c), p.Spec("site")), "true")
	if after := docker.Containers(t, p.Root); len(after) != 1 || after[0] == before[0] {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestAGuestLeavesTheContainerAsItIs(t *testing.T) {
	t.Parallel()
	docker, p, _, e := open(t, nil)
	before := docker.Containers(t, p.Root)
	c := config(t, docker, p)
	c.Limits.Processes = 77
	guest, err := container.New(c).Attach(t.Context(), p.Spec("site"))
	if err != nil {
		t.Fatal(err)
	}
	must(t, guest, "echo seen >seen")
	if got := must(t, e, "cat seen"); got != "seen\n" {
		t.Errorf("got %q", got)
	}
	if after := docker.Containers(t, p.Root); len(after) != 1 || after[0] != before[0] {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestContainersOfGoneEnvironmentsAreRemovedAndNoOthers(t *testing.T) {
	t.Parallel()
	docker, p, d, _ := open(t, nil)
	_, q, _, other := open(t, nil)
	made(t, d, p.Spec("gone"))
	if err := errors.Join(os.RemoveAll(filepath.Join(state(p), "gone")), os.RemoveAll(filepath.Join(p.Root, p.Spec("gone").Dir))); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, others := docker.Containers(t, p.Root), docker.Containers(t, q.Root); len(left) != 1 || len(others) != 1 {
		t.Errorf("left: %v, of the other project: %v", left, others)
	}
	must(t, other, "true")
}

func TestAMissingToolIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	docker, p := containertest.New(t), environmenttest.NewProject(t)
	for name, test := range map[string]struct {
		change func(*container.Config)
		is     error
		words  []string
	}{
		"no image":      {func(c *container.Config) { c.Image = "" }, container.ErrNoImage, []string{"environment.image"}},
		"unknown image": {func(c *container.Config) { c.Image = "nobody/has:this" }, container.ErrNoImage, []string{"docker pull nobody/has:this", "environment.image"}},
		"no daemon":     {func(c *container.Config) { c.DockerEnv = []string{"DOCKER_HOST=unix:///nowhere.sock"} }, environment.ErrNoContainer, []string{"systemctl start docker"}},
		"a far daemon":  {func(c *container.Config) { c.DockerEnv = []string{"DOCKER_HOST=tcp://192.0.2.1:2375"} }, environment.ErrNoContainer, []string{"another machine"}},
		"no helper":     {func(c *container.Config) { c.Docker = "" }, engine.ErrNoProgram, []string{"signalbox-docker"}},
		"broken server": {func(c *container.Config) { c.Program = "/bin/true" }, container.ErrCannotStart, []string{"ended"}},
	} {
		c := config(t, docker, p)
		test.change(&c)
		_, err := container.New(c).Make(t.Context(), p.Spec("site"))
		if !errors.Is(err, test.is) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		for _, word := range test.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q is not in %v", name, word, err)
			}
		}
	}
	c := config(t, docker, p)
	c.Program = "/bin/sh"
	if _, err := container.New(c).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("a program with a loader: %v", err)
	}
}

// named is a server, and a policy that names it.
func named(t *testing.T) (address string, policy egress.Policy) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("served")) }))
	t.Cleanup(server.Close)
	policy, err := egress.NewPolicy([]string{strings.TrimPrefix(server.URL, "http://")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return server.URL, policy
}

func TestOnlyNamedHostsAreReached(t *testing.T) {
	t.Parallel()
	address, policy := named(t)
	_, _, _, e := open(t, func(c *container.Config) { c.Network, c.Egress = egress.Registries, policy })
	const get = `perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(PeerAddr=>"127.0.0.1:41080") or die $!; print $s "GET $ARGV[0] HTTP/1.0\r\n\r\n"; print <$s>' `
	if got := must(t, e, get+address+"/"); !strings.HasSuffix(got, "served") {
		t.Errorf("a named host: %q", got)
	}
	got := must(t, e, get+"http://169.254.169.254/latest/")
	if !strings.Contains(got, " 403 ") || !strings.Contains(got, "blocked: 169.254.169.254") || !strings.Contains(got, "environment.allow") {
		t.Errorf("another one: %q", got)
	}
	if r, out, err := run(t, e, `perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr=>"169.254.169.254:80",Timeout=>5) or die "$!\n"'`); err != nil || r.OK() {
		t.Errorf("around the proxy: %v: %s", err, out)
	}
}

func TestADockerfileOfTheProjectIsBuiltOnce(t *testing.T) {
	t.Parallel()
	docker, p := containertest.New(t), environmenttest.NewProject(t)
	p.Write(t, ".devcontainer/Dockerfile", "FROM "+docker.Image+"\nCOPY greeting /greeting\nENV GREETED=yes\nRUN cat /greeting >/copy\n")
	p.Write(t, ".devcontainer/greeting", "hello\n")
	p.Git(t, "add", "--all")
	p.Git(t, "commit", "--quiet", "--message=image")
	p.Commit = p.Git(t, "rev-parse", "HEAD")
	c := config(t, docker, p)
	c.Dockerfile = ".devcontainer/Dockerfile"
	d := container.New(c)
	e := made(t, d, p.Spec("site"))
	if got := must(t, e, `cat /greeting /copy; echo "$GREETED"`); got != "hello\nhello\nyes\n" {
		t.Errorf("got %q", got)
	}
	again := made(t, container.New(c), p.Spec("site"))
	if again.Fingerprint() != e.Fingerprint() {
		t.Error("the image was built again")
	}
	c.Dockerfile = ""
	spec := p.Spec("site")
	spec.Image = "file:.devcontainer/Dockerfile"
	if named := made(t, container.New(c), spec); named.Fingerprint() != e.Fingerprint() {
		t.Error("the project's own image is another one")
	}
	c.Dockerfile = "nowhere/Dockerfile"
	if _, err := container.New(c).Make(t.Context(), p.Spec("site")); err == nil || !strings.Contains(err.Error(), "nowhere/Dockerfile") {
		t.Errorf("a missing Dockerfile: %v", err)
	}
}

// A user may delete a path that was shown to a command; later commands run without it.
func TestAFolderThatWasShownAndIsGoneIsShownNoMore(t *testing.T) {
	t.Parallel()
	_, _, _, e := open(t, nil)
	shown := filepath.Join(t.TempDir(), "shown")
	if err := os.Mkdir(shown, 0o755); err != nil {
		t.Fatal(err)
	}
	show := process.Command{Args: []string{"ls", "-d", shown}, Reads: []string{shown}, Total: time.Minute, OutputLimit: 1 << 20}
	if result, err := e.Exec(t.Context(), show); err != nil || !result.OK() {
		t.Fatalf("%+v, %v", result, err)
	}
	if err := os.RemoveAll(shown); err != nil {
		t.Fatal(err)
	}
	if got := must(t, e, "[ -d "+shown+"/. ] && echo there; echo works"); got != "works\n" {
		t.Errorf("the next command says %q", got)
	}
	if err := os.Mkdir(shown, 0o755); err != nil {
		t.Fatal(err)
	}
	if result, err := e.Exec(t.Context(), show); err != nil || !result.OK() {
		t.Errorf("when it is there again: %+v, %v", result, err)
	}
}

func TestACommandReachesTheProxyThoughItIsChangingHands(t *testing.T) {
	t.Parallel()
	address, policy := named(t)
	_, p, _, e := open(t, func(c *container.Config) { c.Network, c.Egress = egress.Registries, policy })
	// Another process of ours has the proxy, and no longer serves.
	places, err := filepath.Glob(filepath.Join(state(p), "*", "egress"))
	if err != nil || len(places) != 1 {
		t.Fatal(places, err)
	}
	other, err := os.Open(places[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, err := flock.Try(other); !got || err != nil {
		t.Fatal(got, err)
	}
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		r, err := e.Exec(t.Context(), process.Command{Stdout: out, Total: time.Minute, Args: []string{"perl", "-MIO::Socket::INET", "-e",
			`$s=IO::Socket::INET->new(PeerAddr=>"127.0.0.1:41080") or die $!; print $s "GET $ARGV[0] HTTP/1.0\r\n\r\n"; syswrite STDOUT, "asked\n"; print <$s>`, address + "/"}})
		if err == nil && !r.OK() {
			err = fmt.Errorf("%+v", r)
		}
		ended <- errors.Join(err, out.Close())
	}()
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); line != "asked\n" {
		t.Fatal(line, err, <-ended)
	}
	if err := flock.Release(other); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(lines)
	if err := errors.Join(err, <-ended); err != nil || !strings.HasSuffix(string(got), "served") {
		t.Errorf("got %q, %v", got, err)
	}
}
