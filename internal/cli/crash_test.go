package cli_test

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func TestARunKilledAtAnyInstantEndsMergedOnce(t *testing.T) {
	t.Parallel()
	at := measured(t, newProject(t, 1), "run", "1")
	sweep(t, *kills, func(t *testing.T, n int) {
		p := newProject(t, 1)
		for life := 0; !p.killed(at, n, life, "run", "1"); life++ {
			p = newProject(t, 1)
		}
		if n%4 == 0 {
			p.killed(at, n, 128, p.goOn()...)
		}
		p.mustEndMerged()
	})
}

// What the command line says is part of the run from its first document on: killed at any instant, also before the run is
// admitted, and killed again while it is resumed, it ends with the agent that the first command named.
func TestARunOfANamedAgentKilledTwiceEndsMergedOnce(t *testing.T) {
	t.Parallel()
	command := []string{"run", "1", "--agent", "./.signalbox/agent.sh", "--workflow", "simple", "--approve", "auto"}
	named := func(t *testing.T) *project {
		t.Helper()
		p := newProject(t, 1, "  script: {driver: replay, script: .signalbox/playbook.yaml}", "  script: {driver: command, command: [/bin/false]}")
		p.writeAgent(".signalbox/agent.sh")
		return p
	}
	at := measured(t, named(t), command...)
	sweep(t, *kills, func(t *testing.T, n int) {
		p := named(t)
		p.killed(at, n, 0, command...)
		again := p.goOn()
		if again[0] == "run" {
			again = command // no one was told anything of a run yet
		}
		if n%2 == 0 {
			p.killed(at, n, 128, again...)
		}
		if again = p.goOn(); again[0] == "run" || n%3 == 0 { // nor are the same words refused
			again = command
		}
		p.run(0, again...)
		if got := p.git("show", "main:greet-1.sh"); got != "echo hello 1" {
			t.Errorf("the agent's file on main is %q", got)
		}
		if merges := p.git("rev-list", "--merges", "--count", "main"); merges != "1" {
			t.Errorf("%s merges on main", merges)
		}
	})
}

func TestARunKilledAtAnyInstantPushesItsMergeOnce(t *testing.T) {
	t.Parallel()
	at := measured(t, newProject(t, 1).withRemote(), "run", "1")
	sweep(t, partly(24), func(t *testing.T, n int) {
		p := newProject(t, 1).withRemote()
		p.killed(at, n, 0, "run", "1")
		p.mustEndMerged()
	})
}

// A transition is visible first in stage.json and then in events.jsonl; in a full sweep a run is killed at each of them, as
// soon as it is in the one and as soon as it is in the other. Else every fourth transition is tried, in either.
func TestARunKilledAtEveryTransitionEndsMergedOnce(t *testing.T) {
	t.Parallel()
	whole := newProject(t, 1)
	whole.run(0, "run", "1")
	documents := []string{"stage.json", "events.jsonl"}
	var hits atomic.Int32
	transitions, first := whole.stage(1).Details.Transition+1, rand.IntN(8)
	cases, step := transitions/4, 4
	if *kills >= allKills {
		cases, step = len(documents)*transitions, 1
	}
	sweep(t, cases, func(t *testing.T, n int) {
		k := (step*n + first%step) % transitions
		document := documents[(first/4+k/step+n/transitions)%len(documents)]
		p := newProject(t, 1)
		c := p.start("run", "1")
		c.until(func() bool { return p.transition(document) >= k })
		c.signal(syscall.SIGKILL)
		c.wait()
		switch reached := p.transition(document); {
		case reached < k:
			t.Errorf("killed at transition %d, want %d in %s\n%s", reached, k, document, c.out)
		case reached > k+2:
			t.Logf("killed at transition %d, which is late for %d in %s", reached, k, document)
		default:
			hits.Add(1)
		}
		p.mustEndMerged()
	})
	t.Logf("%d of %d transitions were seen in time", hits.Load(), cases) // fewer on a machine with much to do
	if hits.Load() == 0 {
		t.Error("no transition was seen in time")
	}
}

// Between an effect and the transition that acknowledges it lies the moment in
// which a second performance could have the effect twice.
func TestARunKilledRightAfterAnEffectDoesNotHaveItTwice(t *testing.T) {
	t.Parallel()
	effects := []string{".git/refs/heads/signalbox/1-*", ".worktrees/.new-*", ".worktrees/issue-1-*", "runs/*/*/planning.json", "runs/*/*/patches/S01.patch",
		"runs/*/*/patches/S02.patch", "runs/*/*/patches/R01.patch", ".signalbox/pulls/1.json", ".worktrees/issue-1-check-*", "greet-1.sh", ".worktrees/.old-*", ".signalbox/requests/1.json"}
	var hits atomic.Int32
	cases := everyOther(len(effects))
	sweep(t, len(cases), func(t *testing.T, n int) {
		p, effect := newProject(t, 1), effects[cases[n]]
		c := p.start("run", "1")
		c.until(func() bool {
			found, _ := filepath.Glob(filepath.Join(p.dir, effect))
			return len(found) > 0
		})
		c.signal(syscall.SIGKILL)
		if c.wait() == -1 {
			hits.Add(1)
		} else {
			t.Logf("too late for %s", effect)
		}
		p.mustEndMerged()
	})
	if hits.Load() == 0 {
		t.Error("no effect was seen in time")
	}
}

func TestAnApprovalKilledAtAnyInstantMergesOnce(t *testing.T) {
	t.Parallel()
	waiting := func(t *testing.T) *project {
		p := newProject(t, 1, "approve: auto", "approve: manual")
		p.run(3, "run", "1")
		return p
	}
	at := measured(t, waiting(t), "approve", "1")
	sweep(t, partly(24), func(t *testing.T, n int) {
		p := waiting(t)
		p.killed(at, n, 0, "approve", "1")
		if r := p.stage(1); r.Details.Approval == nil && !slices.ContainsFunc(r.Signals.Commands, approves) {
			p.run(3, "resume", "1") // nobody was told that the approval is taken
			p.run(0, "approve", "1")
		}
		p.mustEndMerged()
	})
}

func approves(c workflow.Command) bool { return c.Kind == workflow.CommandApprove }

// goOn is what a person types after a crash.
func (p *project) goOn() []string {
	p.Helper()
	if p.stage(1).RunID == "" {
		return []string{"run", "1"}
	}
	return []string{"resume", "1"}
}

// mustEndMerged lets the request come to its end and wants nothing lost of what was visible before.
func (p *project) mustEndMerged() {
	p.Helper()
	before, seen := p.stage(1), []string(nil)
	if before.RunID != "" {
		seen = p.events(p.runDir())
	}
	c := p.start(p.goOn()...)
	if code := c.wait(); code != 0 {
		p.Fatalf("%v: exit code %d, cut off after %d transitions\n%s", c.cmd.Args[1:], code, len(seen), c.out)
	}
	after := p.stage(1)
	if before.RunID != "" && before.RunID != after.RunID || after.Details.Transition < before.Details.Transition {
		p.Errorf("run %s at transition %d became run %s at %d", before.RunID, before.Details.Transition, after.RunID, after.Details.Transition)
	}
	if now := p.events(p.runDir()); len(now) < len(seen) || !slices.Equal(now[:len(seen)], seen) {
		p.Errorf("acknowledged transitions are gone: before %q, now %q", seen, now)
	}
	p.mustBeMerged(1)
	if p.Failed() {
		p.Logf("%v, cut off after %d transitions:\n%s", c.cmd.Args[1:], len(seen), c.out)
	}
}

// runDir is the folder of request 1's run.
func (p *project) runDir() string {
	p.Helper()
	r := p.stage(1)
	return store.RunDir(workflow.RefOf(&r))
}

func (p *project) withRemote() *project {
	p.Helper()
	remote := filepath.Join(p.TempDir(), "origin.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", remote).CombinedOutput(); err != nil {
		p.Fatalf("make remote: %v\n%s", err, out)
	}
	p.git("remote", "add", "origin", remote)
	p.git("push", "--quiet", "origin", "main")
	return p
}

// transition is the newest that a document of the run shows, -1 while there is none.
func (p *project) transition(document string) int {
	p.Helper()
	r := p.stage(1)
	switch {
	case r.RunID == "":
		return -1
	case document == "stage.json":
		return r.Details.Transition
	}
	return len(p.events(p.runDir())) - 1
}
