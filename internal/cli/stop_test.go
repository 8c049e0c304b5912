package cli_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

func TestStopIsObeyedWithinASecondWhileAnAgentHangs(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1)
	p.mustStop(c, func(*child) { p.run(0, "stop", "1") })
	g.open()
	p.mustEndMerged()
}

func TestStopIsObeyedWithinASecondWithoutASandbox(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1, "--unsandboxed")
	p.mustStop(c, func(*child) { p.run(0, "stop", "1") })
	g.open()
	p.mustEndMerged()
}

func TestStopIsObeyedWithinASecondWhileATestRuns(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	p := gatedProject(t, 1, g, g.inTests()...)
	c := p.startStandingStill(1)
	p.mustStop(c, func(*child) { p.run(0, "stop", "1") })
	g.open()
	p.mustEndMerged()
}

func TestControlCStopsLikeAnOrder(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1)
	p.mustStop(c, func(c *child) { c.signal(syscall.SIGINT) })
	if r := p.stage(1); r.Error.ReasonCode != workflow.StopRequestedCode {
		t.Errorf("it is %s", r.Error.ReasonCode)
	}
	p.run(3, "run", "1") // a person's stop holds until a person lets it go on
	g.open()
	p.mustEndMerged()
}

// A machine that shuts down and a terminal that is closed are no person who wants the run to stand still:
// whoever starts it again wants it to go on.
func TestARunWhoseProcessIsTerminatedContinuesWithTheNextCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		signals []syscall.Signal
		next    string
	}{
		{[]syscall.Signal{syscall.SIGTERM}, "run"},
		{[]syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, "resume"}, // from the kernel and from the shell
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}, "run"},   // of a service manager
	} {
		t.Run(fmt.Sprint(test.signals), func(t *testing.T) {
			t.Parallel()
			g, p := beforeImplementer(t, 1)
			c := p.startStandingStill(1)
			p.mustStop(c, func(c *child) {
				for _, s := range test.signals {
					c.signal(s)
				}
			})
			if r := p.stage(1); r.Error.ReasonCode != workflow.InterruptedCode {
				t.Errorf("it is %s", r.Error.ReasonCode)
			}
			if said := p.run(0, "list"); !strings.Contains(said, "Interrupted") || !strings.Contains(said, "signalbox resume 1") {
				t.Errorf("list says %q", said)
			}
			g.open()
			p.run(0, test.next, "1")
			p.mustBeMerged(1)
		})
	}
}

func TestAnIgnoredHangUpStaysIgnored(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startUnder([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, nil, "run", "1")
	if !c.until(func() bool { return p.standsStill(1) }) {
		t.Fatalf("it ended before the gate:\n%s", c.out)
	}
	c.signal(syscall.SIGHUP)
	g.open()
	if code := c.wait(); code != 0 {
		t.Errorf("it ends with exit code %d\n%s", code, c.out)
	}
	p.mustBeMerged(1)
}

func TestASecondControlCLosesNothing(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1)
	c.signal(syscall.SIGINT)
	c.signal(syscall.SIGINT)
	c.wait()
	g.open()
	p.mustEndMerged()
}

func TestStopOfARunThatBeganIsObeyedInTheQueue(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	p := gatedProject(t, 2, g, append(g.beforeImplementer(), "max_parallel: 3", "max_parallel: 1")...)
	began := p.startStandingStill(2)
	began.signal(syscall.SIGKILL)
	began.wait()
	first := p.startStandingStill(1)
	p.mustStopInTheQueue(3, workflow.NeedsInput, "resume", "2")
	g.open()
	if code := first.wait(); code != 0 {
		t.Errorf("the first ends with exit code %d\n%s", code, first.out)
	}
	p.run(0, "resume", "2")
	p.mustBeMerged(2)
}

func TestStopOfARunThatMadeNothingYetCancelsItInTheQueue(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	p := gatedProject(t, 2, g, append(g.beforeImplementer(), "max_parallel: 3", "max_parallel: 1")...)
	first := p.startStandingStill(1)
	p.mustStopInTheQueue(7, workflow.Canceled, "run", "2")
	g.open()
	if code := first.wait(); code != 0 {
		t.Errorf("the first ends with exit code %d\n%s", code, first.out)
	}
	p.run(0, "run", "2")
	p.mustHaveOneMergeEach(2)
}

func (p *project) mustStopInTheQueue(want int, state workflow.State, args ...string) {
	p.Helper()
	for chance := 1; ; chance++ {
		c := p.start(args...)
		if !c.until(func() bool {
			r := p.stage(2)
			return r.State == workflow.Queued && strings.HasSuffix(r.Progress.Message, "held by run 1")
		}) {
			p.Fatalf("it ended instead of waiting:\n%s", c.out)
		}
		start := time.Now()
		p.run(0, "stop", "2")
		code, took := c.wait(), time.Since(start)
		if code != want || p.stage(2).State != state {
			p.Errorf("exit code %d, state %s\n%s", code, p.stage(2).State, c.out)
		}
		if took <= time.Second {
			return
		}
		p.Logf("it took %s", took)
		if chance == chances {
			p.Fatal("it never leaves the queue within a second")
		}
	}
}

func TestStopCancelPutsEverythingAwayAndKeepsTheWork(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	second := "{role: implementer, step: S02, attempt: 1, do: [{run: [sh, -c, '"
	p := gatedProject(t, 1, g, second, second+"if test -e "+g.path+"; then echo half done >draft.txt; fi; "+g.pass())
	c := p.startStandingStill(1)
	p.run(0, "stop", "1", "--cancel")
	if code := c.wait(); code != 7 {
		t.Errorf("the run ends with exit code %d, want 7\n%s", code, c.out)
	}
	p.run(0, "stop", "1", "--cancel") // again is no change
	p.mustBeCanceled("tests/1.sh", "draft.txt")
	g.open()
	p.run(0, "run", "1")
	p.mustLeaveNothing()
	p.mustBeSound()
	p.mustHaveOneMergeEach(1)
}

func TestStopCancelKilledAtEveryTransitionPutsEverythingAway(t *testing.T) {
	t.Parallel()
	first := rand.IntN(2)
	for k := range 4 { // left, taken, admitted, environment removed
		for n, again := range []string{"stop", "run"} {
			if (first+k+n)%2 > 0 && *kills < allKills {
				continue
			}
			t.Run(fmt.Sprintf("%s after %d", again, k), func(t *testing.T) {
				t.Parallel()
				cancelKilled(t, k, again)
			})
		}
	}
}

// cancelKilled kills a cancellation after k transitions of its own, and has it finished by the command.
func cancelKilled(t *testing.T, k int, again string) {
	p := newProject(t, 1, "approve: auto", "approve: manual")
	p.run(3, "run", "1")
	k += p.stage(1).Details.Transition
	c := p.start("stop", "1", "--cancel")
	c.until(func() bool { return p.transition("stage.json") >= k })
	c.signal(syscall.SIGKILL)
	c.wait()
	if again == "run" && p.stage(1).State == workflow.Canceled {
		p.run(0, "run", "1", "--approve", "auto")
		p.mustHaveOneMergeEach(1)
		p.mustKnowEnvironments(1)
	} else {
		p.run(0, "stop", "1", "--cancel")
		p.mustBeCanceled("tests/1.sh", "greet-1.sh")
	}
	p.mustLeaveNothing()
	p.mustBeSound()
}

// chances is how often a busy machine may take more than a second to stop a run.
const chances = 5

// mustStop wants the run to stand still within a second of the order. If it takes longer, the run goes on to the gate and
// is stopped again.
func (p *project) mustStop(c *child, order func(*child)) {
	p.Helper()
	for chance := 1; ; chance++ {
		start := time.Now()
		order(c)
		code, took := c.wait(), time.Since(start)
		if r := p.stage(1); code != 3 || r.State != workflow.NeedsInput || r.Error == nil || !slices.Contains(r.Error.Actions, "go on: signalbox resume 1") && !slices.Contains(r.Error.Actions, "go on: signalbox resume --unsandboxed 1") {
			p.Errorf("exit code %d, state %s, error %+v\n%s", code, r.State, r.Error, c.out)
		}
		if alive := p.processes(); len(alive) > 0 {
			p.Errorf("processes are left: %q", alive)
		}
		if took <= time.Second {
			return
		}
		p.Logf("it took %s", took)
		if chance == chances {
			p.Fatal("it never stands still within a second")
		}
		c = p.startUntilStandingStill(1, "resume", "1")
	}
}

// mustBeCanceled wants nothing to be left of the run but its work, on a ref.
func (p *project) mustBeCanceled(work ...string) {
	p.Helper()
	if r := p.stage(1); r.State != workflow.Canceled {
		p.Errorf("the run is %s", r.State)
	}
	p.mustLeaveNothing()
	p.mustBeSound()
	p.mustKnowEnvironments(0)
	kept := p.stage(1).Details.KeptRef
	if kept == "" {
		p.Fatal("the work is on no ref")
	}
	has := strings.Fields(p.git("ls-tree", "-r", "--name-only", kept))
	for _, file := range work {
		if !slices.Contains(has, file) {
			p.Errorf("%s has %q and lacks %s", kept, has, file)
		}
	}
}

func (p *project) mustKnowEnvironments(n int) {
	p.Helper()
	environments, err := p.documents().Environments().Load(p.Context())
	if err != nil || len(environments.Environments) != n {
		p.Errorf("environments.json has %+v (%v), want %d", environments.Environments, err, n)
	}
}
