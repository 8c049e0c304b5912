package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/workflow"
)

func TestTwoRunsOfOneRequestAreOneRunAndOneRefusal(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	first := p.startStandingStill(1)
	said := p.run(5, "run", "1")
	if want := fmt.Sprintf("pid %d on ", first.cmd.Process.Pid); !strings.Contains(said, want) || !strings.Contains(said, "signalbox watch 1") {
		t.Errorf("the second says %q, which lacks %q or what to type", said, want)
	}
	g.open()
	if code := first.wait(); code != 0 {
		t.Errorf("the first ends with exit code %d\n%s", code, first.out)
	}
	p.mustBeMerged(1)
}

func TestTwoRunsStartedTogetherAreOneRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	all := []*child{p.start("run", "1"), p.start("run", "1"), p.start("run", "1")}
	codes := map[int]int{}
	for _, c := range all {
		codes[c.wait()]++
	}
	if codes[0] < 1 || codes[0]+codes[5] != len(all) { // one that comes late finds the run done
		t.Errorf("exit codes are %v, want 0 of who carried it and 5 of who met them", codes)
	}
	p.mustBeMerged(1)
}

func TestARunKilledInTheQueueComesBackAsItWasStarted(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 2)
	p.writeAgent(".signalbox/agent.sh")
	first := p.startStandingStill(1)
	command := []string{"run", "2", "--agent", "./.signalbox/agent.sh", "--workflow", "simple", "--approve", "auto", "--base", "main", "--max-parallel", "1"}
	queued := p.start(command...)
	if !queued.until(func() bool { return strings.HasPrefix(p.stage(2).Progress.Message, "waiting for") }) {
		t.Fatalf("it does not wait:\n%s", queued.out)
	}
	if lock := p.stage(2).Locks.Request; !lock.Held || lock.Path == "" || lock.AcquiredAt == nil {
		t.Errorf("a queued run shows its request lock as %+v", lock)
	}
	queued.signal(syscall.SIGKILL)
	queued.wait()
	if r := p.stage(2); r.Details.Program != "./.signalbox/agent.sh" {
		t.Fatalf("killed in the queue, its agent is %q", r.Details.Program)
	}
	other := slices.Clone(command)
	other[5] = "full"
	if said := p.run(2, other...); !strings.Contains(said, "--workflow (it is simple)") {
		t.Errorf("another workflow is refused by %q", said)
	}
	g.open()
	first.wait()
	p.run(0, "resume", "2")
	p.run(0, command...)
	if got := p.git("show", "main:greet-2.sh"); got != "echo hello 2" {
		t.Errorf("its agent's file on main is %q", got)
	}
	if calls := p.stage(2).Counters.PlannerCalls; calls != 0 {
		t.Errorf("its planner was called %d times, though --agent leaves it out", calls)
	}
}

// writeAgent writes a program that carries any request out.
func (p *project) writeAgent(name string) {
	p.Helper()
	p.write(name, "#!/bin/sh\ncat >/dev/null\necho echo hello $SIGNALBOX_ISSUE >greet-$SIGNALBOX_ISSUE.sh\n")
	if err := os.Chmod(filepath.Join(p.dir, name), 0o755); err != nil {
		p.Fatal(err)
	}
}

func TestAnOrderLeftWithAProcessThatDiesIsCarriedOut(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	holder := p.startStandingStill(1)
	holder.signal(syscall.SIGSTOP)
	stop := p.start("stop", "1")
	if !stop.until(func() bool { return p.stage(1).Signals.StopRequested }) {
		t.Fatalf("the order is not left:\n%s", stop.out)
	}
	if code := stop.wait(); code != 1 {
		t.Errorf("stop ends with exit code %d\n%s", code, stop.out)
	}
	holder.signal(syscall.SIGKILL)
	holder.wait()
	if said := p.run(0, "stop", "1"); p.stage(1).State != workflow.NeedsInput {
		t.Errorf("the run is %s\n%s", p.stage(1).State, said)
	}
	g.open()
	p.mustEndMerged()
}

func TestManyProcessesShareThreeSlotsAndAllMerge(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, crowd)
	children := p.startCrowd()
	p.mustQueueTheRest(children[0])
	g.open()
	for _, c := range children {
		p.mustRunThreeAtMost(c)
		if code := c.wait(); code != 0 {
			t.Errorf("%v: exit code %d\n%s", c.cmd.Args[1:], code, c.out)
		}
	}
	p.mustBeMerged(crowd)
	p.mustPassItsTests()
}

func TestOneProcessCarriesManyRequestsThroughThreeSlots(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, crowd)
	c := p.start("run", "1", "2", "3", "4", "5")
	p.mustQueueTheRest(c)
	g.open()
	p.mustRunThreeAtMost(c)
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.out)
	}
	for n := 1; n <= crowd; n++ {
		waits := regexp.MustCompile(fmt.Sprintf(`(?m)#%d .* waiting for one of 3 slots`, n))
		if said := waits.FindAllString(c.out.String(), -1); len(said) > 1 {
			t.Errorf("run %d says %d times that it waits:\n%s", n, len(said), strings.Join(said, "\n"))
		}
	}
	p.mustBeMerged(crowd)
	p.mustPassItsTests()
}

func TestAKilledProcessFreesItsSlotForTheOthers(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, crowd)
	children := p.startCrowd()
	p.mustQueueTheRest(children[0])
	victim := slices.IndexFunc(children, func(c *child) bool { return p.stage(c.request).State == workflow.Running })
	children[victim].signal(syscall.SIGKILL)
	children[victim].wait()
	n := children[victim].request
	g.open()
	for _, c := range slices.Delete(slices.Clone(children), victim, victim+1) {
		if code := c.wait(); code != 0 {
			t.Errorf("%v: exit code %d\n%s", c.cmd.Args[1:], code, c.out)
		}
	}
	p.mustBeCutOff(n)
	p.run(0, "resume", fmt.Sprint(n))
	p.mustBeMerged(crowd)
	p.mustPassItsTests()
}

func TestStatusSaysThatARunWasCutOffAndWhatToType(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1)
	if said := p.run(0, "status", "1"); strings.Contains(said, "Interrupted") {
		t.Errorf("status of a run in progress:\n%s", said)
	}
	c.signal(syscall.SIGKILL)
	c.wait()
	p.mustBeCutOff(1)
	g.open()
	p.mustEndMerged()
}

func (p *project) mustBeCutOff(n int) {
	p.Helper()
	if said := p.run(0, "status", fmt.Sprint(n)); !strings.Contains(said, "Interrupted: the process that worked on this run is gone") || !strings.Contains(said, fmt.Sprintf("signalbox resume %d", n)) {
		p.Errorf("status of a run whose process was killed:\n%s", said)
	}
}
