package cli_test

import (
	"fmt"
	"maps"
	"os/exec"
	"strings"

	"signalbox/internal/workflow"
)

// crowd is how many requests come at once to the three slots of a project.
const crowd = 5

func (p *project) startCrowd() (children []*child) {
	p.Helper()
	for n := range crowd {
		c := p.start("run", fmt.Sprint(n+1))
		c.request = n + 1
		children = append(children, c)
	}
	return children
}

// mustQueueTheRest waits until three runs stand at the gate, and wants the others
// to say what they wait for.
func (p *project) mustQueueTheRest(c *child) {
	p.Helper()
	settled := func() bool {
		states := p.states()
		return states[workflow.Running] == 3 && states[workflow.Queued] == crowd-3 && p.waiting() == crowd-3
	}
	if !c.until(settled) {
		p.Fatalf("it ended before the gate: %v\n%s", p.states(), c.out)
	}
	for _, run := range p.stages() {
		for _, holder := range p.stages() {
			if says := run.Progress.Message; run.State == workflow.Queued && holder.State == workflow.Running && !strings.Contains(says, "run "+holder.Ref()) {
				p.Errorf("run %s waits and says %q, which does not name run %s", run.Ref(), says, holder.Ref())
			}
		}
	}
}

// waiting is how many queued runs name three holders.
func (p *project) waiting() (n int) {
	p.Helper()
	for _, run := range p.stages() {
		if run.State == workflow.Queued && strings.Count(run.Progress.Message, "run ") == 3 {
			n++
		}
	}
	return n
}

// states counts the runs by state at one moment: two looks that see the same.
func (p *project) states() map[workflow.State]int {
	p.Helper()
	look := func() (map[string]int, map[workflow.State]int) {
		transitions, states := map[string]int{}, map[workflow.State]int{}
		for id, run := range p.stages() {
			transitions[id] = run.Details.Transition
			states[run.State]++
		}
		return transitions, states
	}
	before, states := look()
	for {
		now, again := look()
		if maps.Equal(before, now) {
			return states
		}
		before, states = now, again
	}
}

// mustRunThreeAtMost watches until the child ends.
func (p *project) mustRunThreeAtMost(c *child) {
	p.Helper()
	c.until(func() bool {
		if running := p.states()[workflow.Running]; running > 3 {
			p.Errorf("%d runs are RUNNING at once", running)
		}
		return false
	})
}

// mustPassItsTests runs the project's tests in the checkout of the base branch.
func (p *project) mustPassItsTests() {
	p.Helper()
	cmd := exec.Command("sh", "-c", `for test in tests/*.sh; do sh "$test" || exit 1; done`)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Errorf("the tests of main: %v\n%s", err, out)
	}
}
