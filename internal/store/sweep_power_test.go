package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// powerCuts is how often the power goes, and cutWithin how long after the first update it goes at the latest.
const (
	powerCuts = 20
	cutWithin = 60 * time.Millisecond
)

// sound are the updates that a writer does in turn.
var sound = []string{"environments", "status", "health", "stage"}

// writeForEver does updates in turn until it is stopped, and says what they
// count: first how many were there, then each when it is acknowledged. With a
// number it stops itself right after that many.
func writeForEver(ctx context.Context, s *Store, args []string) error {
	var stopAfter int
	if _, err := fmt.Sscan(args[0], &stopAfter); err != nil {
		return err
	}
	kinds := args[1:]
	updates, counts := map[string]func() error{}, map[string]int{}
	for _, kind := range kinds {
		var counting error
		counts[kind], counting = writtenUpdate(kind).count(ctx, s)
		update, err := writtenUpdate(kind).begin(ctx, s)
		if err := errors.Join(counting, err); err != nil {
			return err
		}
		updates[kind] = update
		fmt.Printf("%s\t%d\n", kind, counts[kind])
	}
	for n := 1; ; n++ {
		kind := kinds[n%len(kinds)]
		if err := updates[kind](); err != nil {
			return err
		}
		counts[kind]++
		fmt.Printf("%s\t%d\n", kind, counts[kind])
		if n == stopAfter {
			if err := unix.Kill(os.Getpid(), unix.SIGSTOP); err != nil {
				return err
			}
		}
	}
}

// writtenUpdate is an update of the store, or one of those that leave a flush out.
func writtenUpdate(kind string) sweptUpdate {
	if careless, ok := carelessUpdates[kind]; ok {
		return careless
	}
	u := sweptUpdates[kind]
	if kind == "stage" {
		u.count = countSaves
	}
	return u
}

func TestWhatWasAcknowledgedSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"xfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t, kind)
			acknowledged := 0
			for round := range powerCuts {
				acks, err := d.cutRound(t, round, sound...)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
				acknowledged += acks
			}
			t.Logf("%d updates were acknowledged before %d power cuts", acknowledged, powerCuts)
		})
	}
}

// The same power cuts find a writer that leaves out a flush. Only with XFS: ext4
// flushes by itself what replaces a file by rename.
func TestAPowerCutFindsAWriterThatLeavesOutAFlush(t *testing.T) {
	t.Parallel()
	for kind := range carelessUpdates {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t, "xfs")
			bad, last := 0, error(nil)
			for round := range powerCuts {
				if _, err := d.cutRound(t, round, kind); err != nil {
					bad, last = bad+1, err
				}
			}
			if bad == 0 {
				t.Errorf("0 of %d power cuts did harm: they cut nothing", powerCuts)
			}
			t.Logf("%d of %d power cuts did harm; the last: %v", bad, powerCuts, last)
		})
	}
}

// cutRound lets a writer begin in a project of its own, cuts the power, and
// returns how many updates were acknowledged and what is wrong afterwards.
func (d *disk) cutRound(t *testing.T, round int, kinds ...string) (acknowledged int, wrong error) {
	t.Helper()
	root := filepath.Join(d.dir, fmt.Sprint(round))
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, Config{Root: root})
	run := newRun()
	run.State = workflow.Running
	if err := errors.Join(s.CreateRun(t.Context(), &run), s.Close()); err != nil {
		t.Fatal(err)
	}
	promised := d.cutWhileWriting(t, s, round, kinds)
	s = openAt(t, Config{Root: root})
	for _, kind := range kinds {
		n, err := writtenUpdate(kind).count(t.Context(), s)
		if want := promised.counts[kind]; err == nil && (n < want || n > want+1) {
			err = fmt.Errorf("%d after %d were acknowledged", n, want)
		}
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", kind, err))
		}
	}
	_ = s.Close()
	return promised.updates, wrong
}

// cutWhileWriting cuts the power in every other round right after an
// acknowledgement, else at any instant.
func (d *disk) cutWhileWriting(t *testing.T, s *Store, round int, kinds []string) promises {
	t.Helper()
	stopAfter := 0
	if round%2 == 0 {
		stopAfter = 1 + rand.IntN(4*len(kinds))
	}
	cmd := another(t, s, "write for ever", append([]string{fmt.Sprint(stopAfter)}, kinds...)...)
	_, out := pipes(t, cmd)
	first, promised := make(chan struct{}), make(chan promises, 1)
	go func() { promised <- readPromises(out, len(kinds), first) }()
	<-first
	if stopAfter == 0 {
		<-time.After(rand.N(cutWithin))
		_ = cmd.Process.Signal(unix.SIGSTOP)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the writer ended: %v, %v", status, err)
	}
	d.cut(t)
	_ = cmd.Process.Kill()
	all := <-promised
	_ = cmd.Wait()
	d.restart(t)
	return all
}

// promises are what a writer acknowledged until it died.
type promises struct {
	updates int
	counts  map[string]int
}

// readPromises closes first when the first update is acknowledged.
func readPromises(out *bufio.Reader, kinds int, first chan<- struct{}) promises {
	p := promises{updates: -kinds, counts: map[string]int{}}
	for {
		line, err := out.ReadString('\n')
		kind, number, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, numberErr := strconv.Atoi(number)
		if errors.Join(err, numberErr) != nil {
			if p.updates < 1 {
				close(first)
			}
			return p
		}
		p.counts[kind] = n
		if p.updates++; p.updates == 1 {
			close(first)
		}
	}
}

// The one who wrote it may have been killed before it was durable, and is acknowledged to nobody.
func TestAnUpdateThatFindsItsOwnContentMakesItDurable(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "xfs")
	s, err := Open(t.Context(), Config{Root: d.dir})
	if err != nil {
		t.Fatal(err)
	}
	set := func(word registry.IssueStatusWord) {
		t.Helper()
		err := s.IssueStatus(sweptIssue).Update(t.Context(), func(status *registry.IssueStatus) error {
			status.Status, status.Timestamp = word, time.Date(2026, 11, 20, 10, 11, 12, 0, time.UTC)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	set(registry.IssueComplete)
	path := filepath.Join(d.dir, statusDir, strconv.Itoa(sweptIssue)+".json")
	complete, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set(registry.IssueRunning)
	f, err := s.openFolder(statusDir)
	if err == nil {
		err = replaceCarelessly(f, string(complete), true, false)
		f.close()
	}
	if err != nil {
		t.Fatal(err)
	}
	set(registry.IssueComplete)
	d.cut(t)
	if err := s.Close(); err != nil {
		t.Log(err)
	}
	d.restart(t)
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, complete) {
		t.Errorf("acknowledged as complete, and after the cut: %v\n%s", err, after)
	}
}
