package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/workflow"
)

var roles = map[string]func(ctx context.Context, s *Store, args []string) error{
	"register": registerMany, "signal": signalMany, "hold": hold, "hold with child": holdWithChild, "die": dieBeforeTheLine,
}

const (
	registerProcesses  = 4
	registerGoroutines = 32
	registerEach       = 3
)

func registerMany(ctx context.Context, s *Store, args []string) error {
	var wg sync.WaitGroup
	problems := make(chan error, registerGoroutines*registerEach)
	for g := range registerGoroutines {
		wg.Go(func() {
			for i := range registerEach {
				problems <- s.Environments().Update(ctx, func(doc *workflow.Environments) error {
					doc.Environments = append(doc.Environments, workflow.Environment{EnvID: fmt.Sprintf("%s-%d-%d", args[0], g, i)})
					return nil
				})
			}
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
	const want = registerProcesses * registerGoroutines * registerEach
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
	err := s.Environments().Update(t.Context(), func(doc *workflow.Environments) error {
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

func TestOldPhaseNumbersAreMendedByTheStepsName(t *testing.T) {
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
	nothing := func(*workflow.Health) error { return nil }
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

func TestHealthKeepsTheVersionBefore(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for i := range 3 {
		if err := s.Health().Update(t.Context(), func(h *workflow.Health) error { h.RunCount = i; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if now, before := read(t, s, "state.json"), read(t, s, "state.json.bak"); !strings.Contains(now, `"run_count": 2`) || !strings.Contains(before, `"run_count": 1`) {
		t.Fatalf("state.json %s\nstate.json.bak %s", now, before)
	}
}

func TestAnErrorOfTheChangeWritesNothing(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	wrong := errors.New("wrong")
	if err := s.IssueStatus(7).Update(t.Context(), func(*workflow.IssueStatus) error { return wrong }); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	if err := s.IssueStatus(7).Update(t.Context(), func(st *workflow.IssueStatus) error { st.Status = "sleeping"; return nil }); err == nil {
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
		if err := s.IssueStatus(7).Update(t.Context(), func(st *workflow.IssueStatus) error {
			st.Status, st.ErrorMessage = workflow.IssueError, c.in
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
		if err := s.IssueStatus(issue).Update(t.Context(), func(st *workflow.IssueStatus) error { st.Status = workflow.IssueRunning; return nil }); err != nil {
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
		if text := read(t, s, testRef.Dir()+"/"+name); strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := read(t, s, testRef.Dir()+"/stage.json"); !strings.Contains(text, `"the password is ***"`) {
		t.Error(text)
	}
}

func TestAWriteThatFailsLeavesTheOldDocument(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "state.json", "")
	f, err := s.openFolder(".")
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := f.put("state.json", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A folder that was removed takes no new file, whoever asks; the old content is at hand through its descriptor.
	write(t, s, "gone/state.json", "old")
	gone, err := s.openFolder("gone")
	if err != nil {
		t.Fatal(err)
	}
	defer gone.close()
	file, err := os.Open(filepath.Join(s.path, "gone/state.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := os.RemoveAll(filepath.Join(s.path, "gone")); err != nil {
		t.Fatal(err)
	}
	if err := gone.put("state.json", []byte("new"), 0o644); !errors.Is(err, ErrWrite) || !errors.Is(err, unix.ENOENT) {
		t.Fatal(err)
	}
	if data, err := readAll(file, 3); err != nil || string(data) != "old" {
		t.Fatalf("%q, %v", data, err)
	}
}

func TestUnsafeFileSystemsAreRefusedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ, flags int64
		allow      bool
		want       error
	}{
		"NFS":           {typ: unix.NFS_SUPER_MAGIC, want: ErrNetworkFS},
		"CIFS":          {typ: unix.CIFS_SUPER_MAGIC, want: ErrNetworkFS},
		"CIFS extended": {typ: int64(int32(-11317950)), want: ErrNetworkFS}, // 0xFF534D42 where the field is signed
		"NFS allowed":   {typ: unix.NFS_SUPER_MAGIC, allow: true},
		"ext4":          {typ: unix.EXT4_SUPER_MAGIC},
		"read-only":     {typ: unix.EXT4_SUPER_MAGIC, flags: unix.ST_RDONLY, want: ErrReadOnly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := open(t.Context(), Config{Root: dir, AllowNetworkFS: c.allow},
				func(string) (unix.Statfs_t, error) { return unix.Statfs_t{Type: c.typ, Flags: c.flags}, nil })
			if !errors.Is(err, c.want) {
				t.Fatal(err)
			}
			entries, _ := os.ReadDir(dir)
			if (c.want == nil) != (len(entries) > 0) {
				t.Fatalf("made %v", entries)
			}
			if s != nil {
				_ = s.Close()
			}
		})
	}
}

func TestOnlyWhatDeadWritersLeftIsSwept(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	mine := fmt.Sprintf(".tmp-%d-%d-9-a", s.self.PID, s.self.Start)
	reused := fmt.Sprintf(".tmp-%d-%d-9-a", s.self.PID, s.self.Start-1)
	kept := []string{mine, ".tmp-a", "tmp-1-1-1-a", "a.json"}
	swept := []string{reused, ".tmp-999999999-1-1-a", ".signalbox/pulls/.tmp-999999999-1-1-a", ".worktrees/.status/.tmp-999999999-1-1-a"}
	for _, name := range append(swept, kept...) {
		write(t, s, name, "")
	}
	openAt(t, Config{Root: s.path})
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(s.path, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range swept {
		if _, err := os.Stat(filepath.Join(s.path, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestOurFolderIsIgnoredByGitButForTheConfiguration(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	info, err := os.Stat(filepath.Join(s.path, ".signalbox"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	write(t, s, ".signalbox/.gitignore", "mine")
	openAt(t, Config{Root: s.path})
	if got := read(t, s, ".signalbox/.gitignore"); got != "mine" {
		t.Errorf("a person's .gitignore became %q", got)
	}
}

func TestWatchSeesAReplacedFileAndNothingElse(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stage, err := s.Watch(ctx, testRef.Dir()+"/stage.json")
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Watch(ctx, testRef.Dir()+"/report.md")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		save(t, w, &run)
		if _, ok := <-stage; !ok {
			t.Fatal("the replaced stage was not seen")
		}
	}
	if _, err := s.WriteReport(ctx, testRef, []byte("# Done\n")); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-report; !ok {
		t.Fatal("the report was not seen")
	}
	select {
	case <-report:
		t.Fatal("one change of the report was told twice, or another file's change")
	default:
	}
	cancel()
	for range stage {
	}
}
