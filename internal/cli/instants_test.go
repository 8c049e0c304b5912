package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/store"
)

var (
	kills    = flag.Int("kills", 6, fmt.Sprintf("random instants at which a run is killed; fewer than %d shorten every other sweep, too", allKills))
	killSeed = flag.Uint64("kill-seed", 0, "seed of the instants at which runs are killed; 0 draws one")
)

// allKills are those of "make crash", with which every sweep is full. Other runs of the tests draw other
// instants each time, so that the few of each come to many.
const allKills = 200

// partly is how many cases of a full sweep are tried.
func partly(full int) int { return min(full, (full**kills+allKills-1)/allKills) }

// everyOther is half of a sweep that is too dear to try all of, beginning with the first or the second; a full sweep is all of it.
func everyOther(full int) (cases []int) {
	first, step := rand.IntN(2), 2
	if *kills >= allKills {
		first, step = 0, 1
	}
	for n := first; n < full; n += step {
		cases = append(cases, n)
	}
	return cases
}

// instants are when to kill: fractions of an undisturbed run, in the time that
// it takes just now, beside everything else that this machine has to do.
type instants struct {
	seed  uint64
	whole time.Duration
	// at is when each transition was reached, undisturbed.
	at []time.Duration

	mu  sync.Mutex
	now time.Duration // what whole takes just now
	hit map[string]int
}

// measured draws its instants over the time that a command takes.
func measured(t *testing.T, p *project, args ...string) *instants {
	t.Helper()
	i := &instants{seed: *killSeed, hit: map[string]int{}}
	if i.seed == 0 {
		i.seed = rand.Uint64()
	}
	program(t) // is built before the clock runs
	start := time.Now()
	p.run(0, args...)
	i.whole = time.Since(start)
	i.now = i.whole
	for _, line := range p.events(p.runDir()) {
		var event store.Transition
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		i.at = append(i.at, event.At.Sub(start))
	}
	t.Logf("undisturbed it takes %s; -kill-seed %d", i.whole.Round(time.Millisecond), i.seed)
	t.Cleanup(func() { t.Logf("killed in: %v", i.hit) })
	return i
}

func (i *instants) draw(n, life int) time.Duration {
	random := rand.New(rand.NewPCG(i.seed, uint64(n)<<8+uint64(life)))
	i.mu.Lock()
	defer i.mu.Unlock()
	return time.Duration(random.Float64() * float64(i.now))
}

// killed notes where a kill hit, and how long the whole would have taken by
// how long it took to get there.
func (i *instants) killed(where string, transition int, took time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hit[where]++
	if transition < len(i.at) && i.at[transition] > i.whole/8 {
		i.now = (3*i.now + time.Duration(float64(took)/float64(i.at[transition])*float64(i.whole))) / 4
	}
}

// sweep lets cases run beside each other, two on each processor: they wait for
// disks and processes half of the time.
func sweep(t *testing.T, cases int, try func(*testing.T, int)) {
	t.Helper()
	var group sync.WaitGroup
	next := make(chan int)
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for n := range next {
				t.Run(fmt.Sprint(n), func(t *testing.T) { try(t, n) })
			}
		})
	}
	for n := range cases {
		next <- n
	}
	close(next)
	group.Wait()
}

// killed starts a command and kills its process group at the n-th instant. It
// reports whether the command was still there.
func (p *project) killed(at *instants, n, life int, args ...string) bool {
	p.Helper()
	start := time.Now()
	c := p.start(args...)
	select {
	case <-time.After(at.draw(n, life)):
	case <-c.done:
	}
	took := time.Since(start)
	c.signal(syscall.SIGKILL)
	if c.wait() != -1 {
		at.killed("ended before", len(at.at)-1, took)
		return false
	}
	where := "before the run"
	r := p.stage(1)
	if r.RunID != "" {
		where = string(r.Details.StepName)
	}
	at.killed(where, r.Details.Transition, took)
	return true
}
