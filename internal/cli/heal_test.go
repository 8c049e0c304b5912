package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

// shop is a service with a bug that shows when an order is asked for: nobody made the map.
const shop = `// Command shop tells what an order costs.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

var prices map[string]int

func main() {
	http.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		prices[r.PathValue("id")] = 7
		fmt.Fprintf(w, "order %s costs %d", r.PathValue("id"), prices[r.PathValue("id")])
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
`

// serve builds the service from what is compiled already: nothing there writes to the compiler's cache.
const serve = `set -e
out=$(mktemp -d)
"$TOOLS/compile" -p main -importcfg "$LIBRARIES" -o "$out/shop.a" main.go
"$TOOLS/link" -importcfg "$LIBRARIES" -o "$out/shop" "$out/shop.a"
exec "$out/shop"
`

// compiled says where the packages are that the program in dir needs.
func compiled(t *testing.T, dir string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", "main.go")
	list.Dir, list.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// mendShop is what a repairer does: it plans one step and makes the map.
const mendShop = `entries:
  - role: planner
    do:
      - answer:
          goal_understanding: The map of prices is nil.
          selected_environment: {name: go, setup_commands: ["true"], verification: [{command: echo ok, expected_output: ok}]}
          action_plan: {steps: [{step_id: S01, title: Make the map, phase: tdd-green, instructions: Make the map of prices.}]}
  - {role: implementer, do: [{run: [sed, -i, 's/^var prices .*/var prices = map[string]int{}/', main.go]}, {answer: Made the map.}]}
`

// newShop is the repository of a real service, whose health is looked after by asking for an order.
func newShop(t *testing.T, agent string) *project {
	t.Helper()
	p := &project{t, projectDir(t)}
	p.write("main.go", shop)
	p.write("serve.sh", serve)
	libraries := filepath.Join(t.TempDir(), "libraries")
	if err := os.WriteFile(libraries, []byte(compiled(t, p.dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.write(".signalbox/playbook.yaml", mendShop)
	p.write(".signalbox/config.yaml", fmt.Sprintf("approve: auto\nenvironment: {read: [%[1]q, %[2]q], variables: [%[3]q, %[4]q], set_up: ['true']}\nagents:\n  it: %[5]s\n"+
		"health:\n  every: 5m\n  checks:\n"+
		"    - {id: orders, kind: http, start: sh serve.sh, url: 'http://127.0.0.1:{port}/orders/42', contains: order 42 costs 7, recipe: Look at what is written to.}\n"+
		"    - {id: script, kind: command, command: sh -n serve.sh, severity: minor}\n",
		goEnv(t, "GOCACHE"), libraries, "TOOLS="+goEnv(t, "GOTOOLDIR"), "LIBRARIES="+libraries, agent))
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", ".")
	p.git("commit", "--quiet", "-m", "Begin")
	p.agreed("go")
	return p
}

// health is state.json.
func (p *project) health() health.State {
	p.Helper()
	h, err := p.documents().Health().Load(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return h
}

// mustBeRepaired holds a shop to pattern 2: one error, one repair, one request, one merge with the check
// as its evidence.
func (p *project) mustBeRepaired() {
	p.Helper()
	h := p.health()
	if h.RetryRequired || h.LastHealthStatus != health.Degraded || h.ContinuousFailureCount != 0 || h.TotalErrorsDetected != 1 ||
		h.TotalFixesAttempted != 1 || h.TotalFixesSucceeded != 1 || h.RunCount != 1 || h.CooldownUntil != "" {
		p.Errorf("state.json is %+v", h)
	}
	if got := p.git("show", "main:main.go"); !strings.Contains(got, "map[string]int{}") {
		p.Errorf("main.go is not mended:\n%s", got)
	}
	if said := p.git("log", "-1", "--format=%B", "main"); !strings.Contains(said, "Tested: orders: GET http://127.0.0.1:{port}/orders/42") {
		p.Errorf("the merge says\n%s", said)
	}
	if status := p.git("status", "--porcelain"); status != "?? requests/" {
		p.Errorf("git status: %s", status)
	}
	if requests, err := filepath.Glob(filepath.Join(p.dir, "requests", "*.md")); err != nil || len(requests) != 1 {
		p.Errorf("requests %q, %v", requests, err)
	}
	for _, run := range p.stages() {
		if run.Details.Settings.Workflow != workflow.WorkflowHeal || run.Details.Settings.Check.ID != "orders" {
			p.Errorf("the run is of workflow %q with the check %+v", run.Details.Settings.Workflow, run.Details.Settings.Check)
		}
	}
	p.mustLeaveNothing()
}

// A real service, a real request that it fails, and a repair that is merged because the request succeeds then.
func TestABugThatARequestShowsIsRepairedMergedAndVerified(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]func(*testing.T) string{
		"replay": func(*testing.T) string { return "{driver: replay, script: .signalbox/playbook.yaml}" },
		"claude": func(t *testing.T) string {
			it, _ := realAgent(t, "claude", realAgents["claude"])
			model := modeltest.Start(t, modeltest.Config{Key: apiKey, Choose: mendTheShop})
			return it + fmt.Sprintf(", url: %q, key: SIGNALBOX_TEST_KEY, prices: {claude-sonnet-4-5: {input: 3, output: 15}}}", model.URL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newShop(t, agent(t))
			c := p.startWithAgents("heal")
			if code := c.waitFor(5 * time.Minute); code != 0 {
				p.tellTranscripts()
				t.Fatalf("exit code %d\n%s", code, c.out)
			}
			if !strings.Contains(c.out.String(), "assignment to entry in nil map") {
				t.Errorf("what failed is not said:\n%s", c.out)
			}
			p.mustBeRepaired()
			p.run(0, "heal")
			if h := p.health(); h.LastHealthStatus != health.Healthy || h.RunCount != 2 {
				t.Errorf("verified: %+v", h)
			}
			p.mustCost(name != "replay")
			p.run(8, "heal", "gate", "--check-every", "5m")
		})
	}
}

// mustCost looks at what the log says of the one repair.
func (p *project) mustCost(something bool) {
	p.Helper()
	var log struct {
		Passes  []health.Pass
		Repairs heal.Sum
	}
	if err := json.Unmarshal([]byte(p.run(0, "heal", "log", "--json")), &log); err != nil {
		p.Fatal(err)
	}
	if log.Repairs.Repairs != 1 || log.Repairs.Fixed != 1 || log.Repairs.Calls < 2 || (log.Repairs.CostMicroUSD > 0) != something || len(log.Passes) != 2 {
		p.Errorf("the log is %+v", log)
	}
}

// mendTheShop is what the model says, by what it is asked for.
func mendTheShop(c modeltest.Conversation) modeltest.Script {
	all := c.System + "\n" + c.Prompt
	switch {
	case strings.Contains(all, "action_plan"):
		return modeltest.Script{Turns: []modeltest.Turn{modeltest.SayJSON(object{"goal_understanding": "The map of prices is nil.",
			"selected_environment": object{"name": "go", "setup_commands": []string{"true"}, "verification": []object{{"command": "echo ok", "expected_output": "ok"}}},
			"action_plan":          object{"steps": []object{{"step_id": "S01", "title": "Make the map", "phase": "tdd-green", "instructions": "Make the map of prices."}}}})}}
	case strings.Contains(all, "Step S01") && strings.Contains(all, "assignment to entry in nil map") && strings.Contains(all, "Look at what is written to."):
		mended := strings.Replace(shop, "var prices map[string]int", "var prices = map[string]int{}", 1)
		return modeltest.Script{Dir: "/workspace", Turns: []modeltest.Turn{modeltest.Do(modeltest.Read("main.go")), modeltest.Do(modeltest.Write("main.go", mended)),
			modeltest.Say("Made the map.")}}
	}
	return modeltest.Script{}
}

// newPatient is a small project whose health check fails until greeting.txt says hello.
func newPatient(t *testing.T, changes ...string) *project {
	t.Helper()
	p := &project{t, projectDir(t)}
	replace := strings.NewReplacer(changes...)
	p.write("greeting.txt", "hullo\n")
	p.write(".signalbox/playbook.yaml", `entries:
  - role: planner
    do:
      - answer:
          goal_understanding: It says something else.
          selected_environment: {name: python, setup_commands: ["true"], verification: [{command: echo ok, expected_output: ok}]}
          action_plan: {steps: [{step_id: S01, title: Say hello, phase: tdd-green, instructions: Say hello.}]}
  - {role: implementer, do: [{run: [sh, -c, 'echo hello >greeting.txt']}, {answer: Said.}]}
`)
	p.write(".signalbox/config.yaml", replace.Replace(`approve: auto
agents: {script: {driver: replay, script: .signalbox/playbook.yaml}}
health:
  checks: [{id: greeting, kind: command, command: 'grep -qx hello greeting.txt || { echo "it says $(cat greeting.txt), want hello"; exit 1; }'}]
`))
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", ".")
	p.git("commit", "--quiet", "-m", "Begin")
	p.agreed("python")
	return p
}

// The real program, killed when what shows that it is somewhere is there.
func TestHealKilledOnItsWayIsGoneOnWithAndRepairsOnce(t *testing.T) {
	t.Parallel()
	ways := []string{".worktrees/issue-0-health", "state.json", "requests/*.md", "runs/*/*/stage.json", "runs/*/*/planning.json", ".signalbox/pulls/1.json",
		".signalbox/requests/1.json"}
	sweep(t, len(ways), func(t *testing.T, n int) {
		p := newPatient(t)
		c := p.start("heal")
		c.until(func() bool {
			found, _ := filepath.Glob(filepath.Join(p.dir, ways[n]))
			return len(found) > 0
		})
		if n%2 == 1 && c.cmd.Process.Signal(syscall.SIGSTOP) == nil { // it lives, and is at it
			if code, said := p.said("heal"); code != 5 && code != 0 || code == 5 && !strings.Contains(said, fmt.Sprintf("pid %d on ", c.cmd.Process.Pid)) {
				t.Errorf("a second pass ends with %d:\n%s", code, said)
			}
		}
		c.signal(syscall.SIGKILL)
		c.wait()
		for life := 0; life < 3 && (life == 0 || p.health().LastHealthStatus != health.Healthy); life++ {
			p.run(0, "heal")
		}
		h := p.health()
		if h.LastHealthStatus != health.Healthy || h.TotalErrorsDetected != 1 || h.TotalFixesAttempted != 1 || h.TotalFixesSucceeded != 1 {
			t.Errorf("killed at %s: %+v", ways[n], h)
		}
		if merges := strings.Fields(p.git("rev-list", "--first-parent", "--merges", "main")); len(merges) != 1 {
			t.Errorf("killed at %s: %d merges", ways[n], len(merges))
		}
		p.mustLeaveNothing()
	})
}

func TestARunningPassIsDistinguishedFromAnInterruptedOne(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	c := p.start("heal")
	c.until(func() bool {
		plans, _ := filepath.Glob(filepath.Join(p.dir, "runs/*/*/planning.json"))
		return len(plans) > 0
	})
	c.signal(syscall.SIGSTOP) // it lives, and is at it
	pid := fmt.Sprintf("pid %d on ", c.cmd.Process.Pid)
	if said := p.run(0, "heal", "status"); !strings.Contains(said, "being repaired") || !strings.Contains(said, "at it      "+pid) || strings.Contains(said, "cut off") {
		t.Errorf("of one that runs it says\n%s", said)
	}
	if said := p.run(8, "heal", "gate"); !strings.Contains(said, "stop: a pass is running: "+pid) {
		t.Errorf("beside one that runs the gate says\n%s", said)
	}
	c.signal(syscall.SIGKILL)
	c.wait()
	said := p.run(0, "heal", "status")
	if !strings.Contains(said, "its repair was cut off") || !strings.Contains(said, "continue it: signalbox heal\n") || strings.Contains(said, "being repaired") ||
		!strings.Contains(said, "1 repair begun, 0 succeeded") || strings.Contains(said, "repairs    none") {
		t.Errorf("of one that was killed it says\n%s", said)
	}
	p.run(0, "heal", "gate")
	p.run(0, "heal")
}

// said runs signalbox to its end, whatever that is.
func (p *project) said(args ...string) (code int, out string) {
	p.Helper()
	c := p.start(args...)
	return c.wait(), c.out.String()
}

func TestHealWatchPassesAgainAndEndsWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	c := p.start("heal", "watch", "--every", "1s", "--json")
	c.until(func() bool {
		data, err := os.ReadFile(filepath.Join(p.dir, "state.json"))
		return err == nil && strings.Contains(string(data), `"last_health_status": "healthy"`)
	})
	c.signal(syscall.SIGINT)
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	var results []health.Result
	for line := range strings.Lines(c.out.String()) {
		var report heal.Report
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		results = append(results, report.Result)
	}
	if len(results) == 0 || results[0] != health.PassRepaired {
		t.Errorf("the passes came to %q:\n%s", results, c.out)
	}
	p.mustLeaveNothing()
}

// greeter is a service that says what is in greeting.txt where it was started.
const greeter = `package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.FileServer(http.Dir("."))))
}
`

func TestAServiceIsStartedAskedAndRepairedInAContainer(t *testing.T) {
	t.Parallel()
	docker := containertest.New(t)
	dir := t.TempDir()
	service := filepath.Join(dir, "greeter")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(greeter), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", service, "main.go")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := newPatient(t, "health:\n", fmt.Sprintf("environment: {driver: container, image: %q, read: [%q]}\nhealth:\n", docker.Image, service),
		"kind: command, command: 'grep -qx hello greeting.txt || { echo \"it says $(cat greeting.txt), want hello\"; exit 1; }'",
		fmt.Sprintf("kind: http, start: 'exec %s', url: 'http://127.0.0.1:{port}/greeting.txt', contains: hello", service))
	t.Cleanup(func() { docker.RemoveProject(t, p.dir) })
	if said := p.run(0, "heal"); !strings.Contains(said, `the answer does not contain "hello" · hullo`) || !strings.Contains(said, "repaired") {
		t.Errorf("heal said\n%s", said)
	}
	p.run(0, "heal")
	if h := p.health(); h.LastHealthStatus != health.Healthy || h.TotalFixesSucceeded != 1 {
		t.Errorf("%+v", h)
	}
	if left := docker.Containers(t, p.dir); len(left) != 0 {
		t.Errorf("containers are left: %v", left)
	}
}
