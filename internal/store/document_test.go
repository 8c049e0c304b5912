package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/health"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

var roles = map[string]func(ctx context.Context, s *Store, args []string) error{
	"watch a thousand folders": watchAThousandFolders,
	"watch without instances":  watchWithoutInstances,
	"register":                 registerMany, "signal": signalMany, "hold": hold, "hold with child": holdWithChild, "rest many": restMany, "die": dieBeforeTheLine, "cut": cutUpdate, "write for ever": writeForEver, "crowd": joinCrowd,
}

const (
	registerProcesses  = 4
	registerGoroutines = 32
)

func registerMany(ctx context.Context, s *Store, args []string) error {
	var wg sync.WaitGroup
	problems := make(chan error, registerGoroutines)
	for g := range registerGoroutines {
		wg.Go(func() {
			problems <- s.Environments().Update(ctx, func(doc *registry.Environments) error {
				doc.Environments = append(doc.Environments, registry.Environment{EnvID: fmt.Sprintf("%s-%d", args[0], g)})
				return nil
			})
		})
	}
	wg.Wait()
	close(problems)
	var all error
	for err := range problems {
		all = errors.Join(all, err)
	}
	return all
}

func TestNoUpdateOfManyProcessesIsLostAndNoReaderSeesAPart(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "environments.json", `{"environments": []}`)
	done := make(chan error, registerProcesses)
	for i := range registerProcesses {
		cmd := another(t, s, "register", strconv.Itoa(i))
		go func() { done <- cmd.Run() }()
	}
	reads := 0
	for left := registerProcesses; left > 0; reads++ {
		select {
		case err := <-done:
			if left--; err != nil {
				t.Fatal(err)
			}
		default:
		}
		data, err := os.ReadFile(filepath.Join(s.path, "environments.json"))
		if err != nil || !json.Valid(data) {
			t.Fatalf("a reader saw %q, %v", data, err)
		}
	}
	doc, err := s.Environments().Load(t.Context())
	const want = registerProcesses * registerGoroutines
	if err != nil || len(doc.Environments) != want {
		t.Fatalf("%d of %d updates are there, %v", len(doc.Environments), want, err)
	}
	t.Logf("%d updates, %d reads", want, reads)
}

func TestUnknownKeysSurviveOnEveryLevel(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	text := `{"x": 1, "environments": [{"env_id": "a", "x": {"deep": [1, 2.50, 12345678901234567890, "é"]},
		"step": "tdd-red", "blocked": {"reason": "resource_limit", "x": true, "context": {"id": 12345678901234567890, "n": 2}}}]}`
	write(t, s, "environments.json", text)
	err := s.Environments().Update(t.Context(), func(doc *registry.Environments) error {
		doc.Environments[0].Title = "changed"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(read(t, s, "environments.json")), "")
	for _, want := range []string{`"title":"changed"`, `"x":1}`, `"x":{"deep":[1,2.50,12345678901234567890,"é"]}`,
		`"x":true`, `"id":12345678901234567890`, `"n":2}`} {
		if !strings.Contains(flat, want) {
			t.Errorf("%s is missing in %s", want, flat)
		}
	}
}

func TestOldPhaseNumbersAreFixedByTheStepsName(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "environments.json", `{"environments": [{"env_id": "a", "phase": 9, "step": "pr-create"},
		{"env_id": "b", "phase": 11, "step": "merge-cleanup"}, {"env_id": "c", "phase": 77, "step": "coffee"}]}`)
	doc, err := s.Environments().Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []workflow.Phase{workflow.PRCreate, workflow.MergeCleanup, 77} {
		if got := doc.Environments[i].Phase; got != want {
			t.Errorf("entry %d: phase %d, want %d", i, got, want)
		}
	}
}

func TestEqualBytesAreNotWrittenAgain(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	nothing := func(*health.State) error { return nil }
	if err := s.Health().Update(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(s.path, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Health().Update(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(s.path, "state.json"))
	if err != nil || !os.SameFile(before, after) {
		t.Fatalf("written again: %v", err)
	}
}

func TestTheBackupOfHealthIsNeverBehindIt(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for range 3 {
		if err := s.Health().Update(t.Context(), addOne); err != nil {
			t.Fatal(err)
		}
		if now, backup := read(t, s, "state.json"), read(t, s, "state.json.bak"); now != backup {
			t.Fatalf("state.json %s\nstate.json.bak %s", now, backup)
		}
	}
}

func TestAnErrorOfTheChangeWritesNothing(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	wrong := errors.New("wrong")
	if err := s.IssueStatus(7).Update(t.Context(), func(*registry.IssueStatus) error { return wrong }); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	if err := s.IssueStatus(7).Update(t.Context(), func(st *registry.IssueStatus) error { st.Status = "sleeping"; return nil }); err == nil {
		t.Fatal("an invalid status was written")
	}
	if _, err := s.IssueStatus(7).Load(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestAnyTextInAStatusStaysReadable(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for name, c := range map[string]struct{ in, out string }{
		"several languages": {"失敗 ошибка 🚉", "失敗 ошибка 🚉"}, "quotes and lines": {"\"a\"\n\tb\\c\r", "\"a\"\n\tb\\c\r"},
		"control characters": {"\x00\x1b[31m\x7f", "\x00\x1b[31m\x7f"}, "invalid UTF-8": {"a\xffb", "a\ufffdb"},
	} {
		if err := s.IssueStatus(7).Update(t.Context(), func(st *registry.IssueStatus) error {
			st.Status, st.ErrorMessage = registry.IssueError, c.in
			return nil
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if st, err := s.IssueStatus(7).Load(t.Context()); err != nil || st.ErrorMessage != c.out {
			t.Errorf("%s: %q, %v", name, st.ErrorMessage, err)
		}
	}
}

func TestIssueStatusesAreListedByNumberAndRemoved(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for _, issue := range []int{42, 4} {
		if err := s.IssueStatus(issue).Update(t.Context(), func(st *registry.IssueStatus) error { st.Status = registry.IssueRunning; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s, ".worktrees/.status/9.json", "{")
	write(t, s, ".worktrees/.status/notes.txt", "")
	all, err := s.IssueStatuses(t.Context())
	if err != nil || len(all) != 3 || all[0].Issue != 4 || all[1].Issue != 9 || all[2].Issue != 42 || !errors.Is(all[1].Err, ErrBroken) {
		t.Fatalf("%v, %v", all, err)
	}
	if err := s.IssueStatus(4).Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := s.IssueStatuses(t.Context()); err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
}

func TestRecordsArePrivateAndListed(t *testing.T) {
	t.Parallel()
	type pull struct{ Head string }
	s := openStore(t)
	for _, id := range []string{"7", "12"} {
		if err := Record[pull](s, "pulls", id).Update(t.Context(), func(p *pull) error { p.Head = id; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := s.Records(t.Context(), "pulls")
	if err != nil || strings.Join(ids, " ") != "12 7" {
		t.Fatalf("%v, %v", ids, err)
	}
	info, err := os.Stat(filepath.Join(s.path, ".signalbox/pulls/7.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if p, err := Record[pull](s, "pulls", "7").Load(t.Context()); err != nil || p.Head != "7" {
		t.Fatalf("%v, %v", p, err)
	}
}

func TestSecretsAreRedactedInEveryText(t *testing.T) {
	t.Parallel()
	s := openAt(t, Config{Root: t.TempDir(), Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }})
	run := newRun()
	run.Title = "the password is hunter2"
	if err := s.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stage.json", "report.md", "events.jsonl"} {
		if text := read(t, s, RunDir(testRef)+"/"+name); strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := read(t, s, RunDir(testRef)+"/stage.json"); !strings.Contains(text, `"the password is ***"`) {
		t.Error(text)
	}
}

func TestAWriteThatFailsLeavesTheOldDocumentAndNothingElse(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "state/state.json", "old")
	f, err := s.openFolder("state")
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	_, err = f.replaceWith("state.json", publicFile, func(w io.Writer) error {
		_, err := w.Write([]byte("ne"))
		return errors.Join(err, unix.ENOSPC)
	})
	entries, _ := os.ReadDir(filepath.Join(s.path, "state"))
	if !errors.Is(err, unix.ENOSPC) || read(t, s, "state/state.json") != "old" || len(entries) != 1 {
		t.Fatalf("%v, %v", err, entries)
	}
	write(t, s, "state/full.json/x", "")
	if err := f.put("full.json", []byte("new"), publicFile); !errors.Is(err, ErrWrite) || !errors.Is(err, unix.EISDIR) {
		t.Fatalf("written over a folder: %v", err)
	}
}
