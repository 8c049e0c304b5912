package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/workflow"
)

// quick makes a project with one request and the shortest of runs.
func quick(t *testing.T, settings string) *project {
	t.Helper()
	p := newProject(t, 1, "approve: auto", "workflow: simple\n"+settings, "  script: {driver: replay, script: .signalbox/playbook.yaml}", "  script: {driver: command, command: [.signalbox/agent.sh]}")
	p.writeAgent(".signalbox/agent.sh")
	return p
}

// auto makes a project whose only request runs by itself, and returns what is told of it.
func auto(t *testing.T) (*project, <-chan string) {
	t.Helper()
	told := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		told <- string(data)
	}))
	t.Cleanup(hook.Close)
	p := quick(t, "approve: auto\nnotify: {webhook: "+hook.URL+"}")
	p.write("requests/1.md", "---\nid: RQ-20260101-001\nnumber: 1\ntitle: Greet number 1\nrun: auto\n---\n\ngreet-1.sh says hello 1.\n")
	p.git("commit", "--quiet", "--all", "-m", "Run by itself")
	return p, told
}

// serves starts serve as systemd does, and returns it once it is ready, with the address of the project's pages.
func (p *project) serves(env ...string) (c *child, address string) {
	p.Helper()
	name := filepath.Join(p.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = manager.Close() }()
	c = p.startWith(append(env, "NOTIFY_SOCKET="+name), "serve", "--listen", "127.0.0.1:0")
	go func() {
		<-c.done
		_ = manager.Close()
	}()
	said := make([]byte, 1000)
	for n := 0; !strings.Contains(string(said[:n]), "READY=1"); {
		if n, err = manager.Read(said); err != nil {
			p.Fatalf("serve ended:\n%s", c.out)
		}
	}
	var pages struct{ Address string }
	data, err := os.ReadFile(filepath.Join(p.dir, ".signalbox/serve/pages.json"))
	if err != nil || json.Unmarshal(data, &pages) != nil {
		p.Fatalf("%s, %v", data, err)
	}
	return c, pages.Address
}

// Whenever serve is killed, the next one has the run end, merged once and told of once: before it began anything, while the run works, and when both are killed.
func TestServeKilledAtAnyInstantLosesNothing(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]func(*project) bool{
		"at once":        func(p *project) bool { return exists(p, ".signalbox/serve/since.json") },
		"as a run began": func(p *project) bool { return len(p.stages()) > 0 },
		"in the middle":  func(p *project) bool { return p.stages()["RQ-20260101-001"].Details.Phase >= workflow.TDDGreen },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, told := auto(t)
			first := p.start("serve", "--no-web")
			if !until(p, p.dir, first.done, func() bool { return killed(p) }, ".signalbox/serve") {
				t.Fatalf("serve ended:\n%s", first.out)
			}
			first.signal(syscall.SIGKILL)
			first.wait()
			if name == "in the middle" { // and the run's process, too
				p.killRun()
			}
			again, address := p.serves()
			news := ""
			for !strings.Contains(news, `"state":"DONE"`) {
				select {
				case news = <-told:
				case <-again.done:
					t.Fatalf("serve ended:\n%s", again.out)
				}
			}
			if page := address + "/runs/RQ-20260101-001"; !strings.Contains(news, page) {
				t.Errorf("it was told, without %s:\n%s", page, news)
			}
			again.signal(syscall.SIGTERM)
			if code := again.wait(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, again.out)
			}
			if merges := p.git("rev-list", "--merges", "--count", "main"); merges != "1" {
				t.Errorf("%s merges on main", merges)
			}
			p.released("RQ-20260101-001")
			if len(told) > 0 {
				t.Errorf("it was told more:\n%s", <-told)
			}
		})
	}
}

func exists(p *project, name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// lockOf is the lock file of a request.
func (p *project) lockOf(request string) string {
	data, _ := os.ReadFile(filepath.Join(p.dir, ".signalbox/locks/request-"+request+".lock"))
	return string(data)
}

// released waits until no process works on a request.
func (p *project) released(request string) {
	p.Helper()
	until(p, p.dir, nil, func() bool { return strings.Contains(p.lockOf(request), `"released_at":"`) }, ".signalbox/locks")
}

// killRun kills the process that executes the run of request 1.
func (p *project) killRun() {
	p.Helper()
	pid := 0
	if found := regexp.MustCompile(`"pid":(\d+)`).FindStringSubmatch(p.lockOf("RQ-20260101-001")); found != nil {
		_, _ = fmt.Sscan(found[1], &pid)
	}
	if pid <= 1 {
		p.Fatalf("no process has the lock: %s", p.lockOf("RQ-20260101-001"))
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestOneServeHasAProjectAndOtherCommandsWorkBesideIt(t *testing.T) {
	t.Parallel()
	p := quick(t, "approve: manual\nhealth: {checks: [{id: fine, kind: command, command: \"true\"}]}")
	c, address := p.serves()
	address = strings.TrimSuffix(address, "/p/"+filepath.Base(p.dir))
	second := p.run(5, "serve")
	if want := fmt.Sprintf("another process serves the project in %s: pid %d on ", p.dir, c.cmd.Process.Pid); !strings.Contains(second, want) {
		t.Errorf("a second one says, without %q:\n%s", want, second)
	}
	opened := p.startWith([]string{"DISPLAY=", "WAYLAND_DISPLAY="}, "serve", "--open") // where no browser can be
	if code := opened.wait(); code != 0 || !strings.Contains(opened.out.String(), "no browser was opened: there is no display") || !strings.Contains(opened.out.String(), "10 minutes: "+address+"/") {
		t.Errorf("--open beside it ends with %d and says\n%s", code, opened.out)
	}
	if code, body := get(t, address+"/healthz"); code != http.StatusOK || !strings.Contains(body, `"projects":1`) {
		t.Errorf("its health is %d: %s", code, body)
	}
	for _, path := range []string{"/", "/p/" + filepath.Base(p.dir) + "/mcp"} {
		if code, _ := get(t, address+path); code != http.StatusUnauthorized {
			t.Errorf("without a login %s answers %d", path, code)
		}
	}
	if code, _ := get(t, address+"/webhook/elsewhere"); code == http.StatusOK {
		t.Error("a webhook for no project is taken")
	}
	p.run(3, "run", "1")
	if out := p.run(0, "list"); !strings.Contains(out, "#1") {
		t.Errorf("the list is\n%s", out)
	}
	p.run(0, "approve", "1")
	if !until(t, p.dir, c.done, func() bool {
		state, _ := os.ReadFile(filepath.Join(p.dir, "state.json"))
		return strings.Contains(string(state), `"last_health_status": "healthy"`)
	}) {
		t.Errorf("no pass of the loop was made:\n%s", c.out)
	}
	c.signal(syscall.SIGTERM)
	if code := c.wait(); code != 0 || !strings.Contains(c.out.String(), "runs go on") {
		t.Errorf("exit code %d:\n%s", code, c.out)
	}
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

func TestServeTakesTheForgesOrders(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none, webhook: HOOK_WORD")
	h.env = append(h.env, "HOOK_WORD=open-sesame-of-ada-7")
	h.by(0, "forge", "watch", "--once")
	c, address := h.serves(h.env...)
	h.With(func(st *githubtest.State) { st.Now = time.Now().UTC() })
	h.Comment(42, "ada", "/signalbox run")
	base, name, _ := strings.Cut(address, "/p/")
	if code := post(t, base+"/webhook/"+name, "wrong"); code != http.StatusUnauthorized {
		t.Errorf("a forged webhook is answered with %d", code)
	}
	if code := post(t, base+"/webhook/"+name, "open-sesame-of-ada-7"); code != http.StatusAccepted {
		t.Errorf("a webhook is answered with %d", code)
	}
	if !until(t, h.dir, c.done, func() bool { return h.stages()["42"].State == workflow.Done }) {
		t.Fatalf("serve ended:\n%s", c.out)
	}
	if out := h.by(5, "forge", "watch", "--once"); !strings.Contains(out, "another process watches the forge") {
		t.Errorf("a watcher beside it printed\n%s", out)
	}
	c.signal(syscall.SIGTERM)
	c.wait()
	h.released("42")
}
