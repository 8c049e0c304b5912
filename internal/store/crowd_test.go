package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"signalbox/internal/registry"
)

const (
	crowdProcesses = 64
	crowdReaders   = 2
)

// crowdUpdates is how often each process of a crowd updates. 24 go twice through the operations of environments.json; each
// further one meets as many others as those did.
var crowdUpdates = 24

func init() {
	if os.Getenv(everything) != "" {
		crowdUpdates = 200
	}
}

// crowds are the documents that a crowd updates: how one of them does its nth
// update, n from 0 on, and what jq reads meanwhile.
var crowds = map[string]struct {
	update func(ctx context.Context, s *Store, writer string) func(n int) error
	file   string
	query  string
}{
	"environments": {mixEnvironments, "environments.json", ".environments | length"},
	"status":       {mixStatus, statusDir + "/7.json", ".issue"},
	"signals":      {mixSignals, RunDir(testRef) + "/" + stageFile, ".run_id"},
}

// joinCrowd updates as soon as its input ends.
func joinCrowd(ctx context.Context, s *Store, args []string) error {
	update := crowds[args[0]].update(ctx, s, args[1])
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	for n := range crowdUpdates {
		if err := update(n); err != nil {
			return fmt.Errorf("writer %s, update %d: %w", args[1], n, err)
		}
	}
	return nil
}

func TestACrowdLosesNoUpdateOfEnvironments(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	check(t, s.Environments().Update(t.Context(), func(doc *registry.Environments) error {
		if err := doc.Register(registry.Environment{EnvID: sharedEnvironment, IssueNumber: 1, Branch: "shared", Title: "Shared"}, testStart); err != nil {
			return err
		}
		return doc.Environments[0].UpdatePR(1, testStart)
	}))
	release(t, s, "environments", nil)
	doc, err := s.Environments().Load(t.Context())
	check(t, err)
	shared, err := doc.Find(sharedEnvironment)
	check(t, err)
	if n := *shared.PRNumber - 1; n != crowdProcesses*crowdUpdates {
		t.Errorf("%d of %d updates are counted", n, crowdProcesses*crowdUpdates)
	}
	if len(doc.Environments) != crowdProcesses+1 || len(shared.PendingIssues) != crowdProcesses {
		t.Errorf("%d entries and %d findings of %d writers", len(doc.Environments)-1, len(shared.PendingIssues), crowdProcesses)
	}
}

func TestACrowdLosesNoUpdateOfAStatus(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	check(t, mixStatus(t.Context(), s, "first")(0))
	release(t, s, "status", nil)
	status, err := s.IssueStatus(sweptIssue).Load(t.Context())
	check(t, err)
	for p := range crowdProcesses {
		if n := string(status.Unknown[fmt.Sprint(p)]); n != fmt.Sprint(crowdUpdates) {
			t.Errorf("%s of %d updates of writer %d are there", n, crowdUpdates, p)
		}
	}
}

func TestACrowdLosesNoSignalWhileTheRunnerSaves(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	obeyed, stops, saves := map[string]int{}, 0, 0
	obey := func() {
		for _, command := range run.Signals.Commands {
			obeyed[command.ID]++
		}
		if run.Signals.StopRequested {
			stops++
		}
		run.Signals.Commands, run.Signals.StopRequested = nil, false
		save(t, w, &run)
		saves++
	}
	release(t, s, "signals", obey)
	obey() // what came in with the last save
	obey()
	if run.Signals.Notes == nil || *run.Signals.Notes != fmt.Sprint(crowdProcesses*crowdUpdates/4) {
		t.Errorf("notes: %v", run.Signals.Notes)
	}
	if len(obeyed) != crowdProcesses*crowdUpdates/2 || stops == 0 {
		t.Errorf("%d of %d commands and %d stops were obeyed", len(obeyed), crowdProcesses*crowdUpdates/2, stops)
	}
	for id, n := range obeyed {
		if n != 1 {
			t.Errorf("command %s was obeyed %d times", id, n)
		}
	}
	t.Logf("%d saves, %d stops", saves, stops)
}

// release starts the crowd at once, lets jq read and meanwhile do until its last process ended.
func release(t *testing.T, s *Store, kind string, meanwhile func()) {
	t.Helper()
	var crowd []*exec.Cmd
	var starts []io.Closer
	for p := range crowdProcesses {
		cmd := unobserved(t, another(t, s, "crowd", kind, fmt.Sprint(p)))
		in, out := pipes(t, cmd)
		if line, err := out.ReadString('\n'); line != "ready\n" {
			t.Fatalf("writer %d: %q, %v", p, line, err)
		}
		crowd, starts = append(crowd, cmd), append(starts, in)
	}
	ended, begun := make(chan struct{}), time.Now()
	reads := readers(t, filepath.Join(s.path, crowds[kind].file), crowds[kind].query, ended)
	for _, start := range starts {
		check(t, start.Close())
	}
	go func() {
		defer close(ended)
		for _, cmd := range crowd {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
	}()
	for going := meanwhile != nil; going; {
		select {
		case <-ended:
			going = false
		default:
			meanwhile()
		}
	}
	<-ended
	t.Logf("%d updates of %d processes in %s, %d reads", crowdProcesses*crowdUpdates, crowdProcesses, time.Since(begun).Round(time.Millisecond), reads())
}

// readers read file with jq until ended. The returned function waits for them and
// counts their reads. They are nice, because two loops of jq would have two
// processors to themselves.
func readers(t *testing.T, file, query string, ended <-chan struct{}) (reads func() int) {
	t.Helper()
	counts := make(chan int, crowdReaders)
	for range crowdReaders {
		go func() {
			n := 0
			defer func() { counts <- n }()
			for ; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				if out, err := exec.CommandContext(t.Context(), "nice", "-n19", "jq", "--exit-status", query, file).CombinedOutput(); err != nil {
					t.Errorf("jq cannot read: %v %s", err, out)
					return
				}
			}
		}()
	}
	return func() (all int) {
		for range crowdReaders {
			n := <-counts
			if n == 0 {
				t.Error("a reader never read")
			}
			all += n
		}
		return all
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
