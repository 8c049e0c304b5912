package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// A set-up with everything that a set-up can have: a command that the network fails once and that
// is waited for, one that the repairer corrects, and a verification.
var eventfulSetUp = []string{
	`setup_commands: ["true"]`, `setup_commands: ["echo one >>made", "test -e second || { touch second; echo Connection refused >&2; exit 1; }; echo two >>made", "no-such-tool"]`,
	"  - {role: reviewer, round: 1,", `  - {role: repairer, do: [{answer: {setup_commands: ["echo one >>made", "echo two >>made", "echo three >>made"]}}]}` + "\n  - {role: reviewer, round: 1,",
	"approve: auto", "approve: manual\nworkflow: [design-read, design-check]",
}

func newEventfulProject(t *testing.T) *project {
	t.Helper()
	p := newProject(t, 1, eventfulSetUp...)
	p.write(".gitignore", "made\nsecond\n")
	p.git("add", ".gitignore")
	p.git("commit", "--quiet", "-m", "Ignore what the set-up makes")
	return p
}

// made is how often each command of the set-up had its effect.
func (p *project) made() map[string]int {
	p.Helper()
	times := map[string]int{}
	for _, word := range strings.Fields(p.run(0, "env", "exec", "1", "--", "cat", "made")) {
		times[word]++
	}
	return times
}

func TestASetUpKilledAnywhereContinuesAtTheRightCommand(t *testing.T) {
	t.Parallel()
	whole := newEventfulProject(t)
	whole.run(3, "run", "1")
	want, times := whole.stage(1), whole.made()
	if fmt.Sprint(times) != "map[one:2 three:1 two:2]" || want.Details.SetUp.Status != "success" {
		t.Fatalf("undisturbed, %v; %+v", times, want.Details.SetUp)
	}
	first, last := setUpTransitions(t, whole)
	var hits atomic.Int32
	cases := everyOther(last - first + 1)
	sweep(t, len(cases)+partly(10), func(t *testing.T, n int) {
		p, at := newEventfulProject(t), n < len(cases)
		c := p.start("run", "1")
		k := first + rand.IntN(last-first+1)
		if at {
			k = first + cases[n]
		}
		if c.until(func() bool { return p.transition("stage.json") >= k }) && !at {
			select {
			case <-time.After(rand.N(100 * time.Millisecond)):
			case <-c.done:
			}
		}
		c.signal(syscall.SIGKILL)
		if c.wait() == -1 {
			hits.Add(1)
		}
		cut := p.stage(1)
		p.run(3, "resume", "1")
		p.mustHaveSetUpOnce(cut, want, times)
	})
	if hits.Load() == 0 {
		t.Error("no kill came in time")
	}
}

// setUpTransitions are the first and the last transition of the set-up.
func setUpTransitions(t *testing.T, p *project) (first, last int) {
	t.Helper()
	for n, line := range p.events(p.runDir()) {
		var event store.Transition
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		switch event.Event {
		case "PlanWritten":
			first = n
		case "EnvironmentKept":
			last = n
		}
	}
	if first == 0 || last < first+8 {
		t.Fatalf("the set-up lies between transition %d and %d", first, last)
	}
	return first, last
}

// mustHaveSetUpOnce wants the set-up to have come to what it comes to undisturbed. Only the one
// command that was being run when the run was cut off may have had its effect twice.
func (p *project) mustHaveSetUpOnce(cut, want workflow.Run, times map[string]int) {
	p.Helper()
	got := p.stage(1)
	interrupted := ""
	if pending := cut.Details.Pending; len(pending) > 0 && pending[0].Kind == workflow.RunSetUp {
		interrupted = pending[0].Commands[0]
	}
	for word, n := range p.made() {
		more := n - times[word]
		if more != 0 && (more != 1 || !strings.Contains(interrupted, "echo "+word)) {
			p.Errorf("%q was run %d times, want %d; cut off in %q after %d acknowledged", word, n, times[word], interrupted, len(cut.Details.SetUp.Ran))
		}
	}
	a, b := got.Details.SetUp, want.Details.SetUp
	unseen := strings.Contains(interrupted, "touch second") && a.NetworkRetries == 0 // cut off between its failure and our hearing of it
	if a.Status != b.Status || a.NetworkRetries != b.NetworkRetries && !unseen || a.Repaired != b.Repaired || !reflect.DeepEqual(got.Counters, want.Counters) {
		p.Errorf("the set-up ended as %+v with %+v, want %+v with %+v", a, got.Counters, b, want.Counters)
	}
	ran := func(s *workflow.SetUp) (commands []string) {
		for _, r := range append(slices.Clone(s.Ran), s.Verified...) {
			commands = append(commands, r.Command)
		}
		return commands
	}
	if !slices.Equal(ran(a), ran(b)) {
		p.Errorf("ran %q, want %q", ran(a), ran(b))
	}
}
