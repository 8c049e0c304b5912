package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/engine"
	"signalbox/internal/registry"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

func hostileCases(good string) map[string]string {
	edit := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			panic("nothing to edit: " + old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	return map[string]string{
		"an empty object":                   "{}",
		"no bytes":                          "",
		"NUL bytes":                         "\x00\x00\x00",
		"only white space":                  " \n",
		"another version":                   edit(`"version": "1.0"`, `"version": "2.0"`),
		"no version":                        edit(`"version": "1.0",`, ""),
		"a name twice":                      edit(`"state":`, `"state": "QUEUED", "state":`),
		"a name twice in what is only kept": edit(`"state":`, `"x": {"a": 1, "a": 2}, "state":`),
		"State beside state":                edit(`"state":`, `"State": "DONE", "state":`),
		"State for state":                   edit(`"state":`, `"State":`),
		"ſtate beside state":                edit(`"state":`, `"ſtate": "DONE", "state":`),
		"Percent inside progress":           edit(`"percent":`, `"Percent": 5, "percent":`),
		"Transition inside signalbox":       edit(`"transition":`, `"Transition": 5, "transition":`),
		"two documents":                     good + good,
		"bytes after the document":          good + "x",
		"invalid UTF-8":                     edit("Add a button", "Add\xff"),
		"depth 20,000":                      edit(`"state":`, `"x": `+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`, "state":`),
		"a list":                            "[" + good + "]",
		"null":                              "null",
		"index -1":                          edit(`"current_step_index": 0`, `"current_step_index": -1`),
		"index 1e309":                       edit(`"current_step_index": 0`, `"current_step_index": 1e309`),
		"DONE without ended_at":             edit(`"state": "RUNNING"`, `"state": "DONE"`),
		"an unknown state":                  edit(`"state": "RUNNING"`, `"state": "running"`),
		"a time without offset":             edit(`"updated_at": "2026-11-20T10:11:12Z"`, `"updated_at": "2026-11-20T10:11:12"`),
		"another run's id":                  edit(testRef.RunID, "20261120-101112-00ff01"),
		"more than the limit":               edit("Add a button", strings.Repeat("x", strict.MaxSize)),
		"a text where a number belongs":     edit(`"number": 1`, `"number": "1"`),
		"a comment":                         "// hello\n" + good,
		"a byte order mark":                 "\ufeff" + good,
		"an unfinished escape":              edit("Add a button", `\u00`),
		"half a surrogate pair":             edit("Add a button", `\ud800`),
	}
}

func TestAHostileStageIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	createRun(t, s)
	path := RunDir(testRef) + "/stage.json"
	good := read(t, s, path)
	for name, text := range hostileCases(good) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			write(t, s, path, text)
			refuses(t, s, path, text)
			if _, err := s.Stage(testRef).Load(t.Context()); errors.Is(err, strict.ErrVersion) != strings.Contains(name, "version") && text != "{}" {
				t.Errorf("ErrVersion is not told apart: %v", err)
			}
		})
	}
}

// refuses checks every way in: reading, signalling, opening and listing.
func refuses(t *testing.T, s *Store, path, text string) {
	t.Helper()
	_, load := s.Stage(testRef).Load(t.Context())
	signal := s.Signal(t.Context(), testRef, func(sig *workflow.Signals) error { sig.StopRequested = true; return nil })
	_, _, open := s.OpenRun(t.Context(), testRef)
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("listing: %v, %v", runs, err)
	}
	for _, err := range []error{load, signal, open, runs[0].Err} {
		var b *BrokenError
		if !errors.As(err, &b) || !errors.Is(err, ErrBroken) || b.Path != path || b.Reason == "" {
			t.Errorf("not refused as broken: %v", err)
		}
	}
	if read(t, s, path) != text {
		t.Error("the broken document was changed")
	}
}

func TestAStageTruncatedAnywhereIsRefused(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	createRun(t, s)
	good := strings.TrimRight(read(t, s, RunDir(testRef)+"/stage.json"), "\n")
	doc := s.Stage(testRef)
	if _, err := doc.parse([]byte(good + " \n\t")); err != nil {
		t.Fatalf("white space after the document is refused: %v", err)
	}
	for i := range good {
		if _, err := doc.parse([]byte(good[:i])); err == nil {
			t.Fatalf("accepted when cut after %d bytes", i)
		}
	}
}

func TestADepthOfAHundredIsTheLimit(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for depth, fits := range map[int]bool{strict.MaxDepth: true, strict.MaxDepth + 1: false} {
		text := `{"x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
		if _, err := s.Environments().parse([]byte(text)); (err == nil) != fits {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func TestABrokenDocumentSaysWhere(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	write(t, s, "environments.json", "{\n \"environments\": [\n  {\"env_id\": \"a\", \"env_id\": \"b\"}\n ]\n}\n")
	_, err := s.Environments().Load(t.Context())
	var b *BrokenError
	if !errors.As(err, &b) || b.Line != 3 || b.Column != 19 || !strings.HasPrefix(err.Error(), "read environments.json:3:19: ") {
		t.Fatalf("got %v", err)
	}
}

func TestHostileEnvironmentsAreRefusedAndLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no bytes": "", "a list": "[]", "a case mismatch": `{"Environments": []}`, "two documents": `{"environments": []}{}`,
		"a case mismatch in an entry": `{"environments": [{"env_id": "a", "Branch": "b"}]}`, "an entry without id": `{"environments": [{"branch": "b"}]}`,
		"one id twice": `{"environments": [{"env_id": "a"}, {"env_id": "a"}]}`, "torn": `{"environments": [{"env_id": "a"`,
		"a time without offset": `{"environments": [{"env_id": "a", "created_at": "2026-01-01T00:00:00"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			write(t, s, "environments.json", text)
			err := s.Environments().Update(t.Context(), func(doc *registry.Environments) error {
				doc.Environments = append(doc.Environments, registry.Environment{EnvID: "new"})
				return nil
			})
			if !errors.Is(err, ErrBroken) || read(t, s, "environments.json") != text {
				t.Fatalf("got %v and %q", err, read(t, s, "environments.json"))
			}
		})
	}
}

func TestADocumentThatIsNoPlainFileIsRefused(t *testing.T) {
	t.Parallel()
	const text = `{"environments": []}`
	for name, place := range map[string]func(other, name string) error{
		"a symbolic link": os.Symlink,
		"a hard link":     os.Link,
		"a FIFO":          func(_, name string) error { return unix.Mkfifo(name, 0o644) },
		"a folder":        func(_, name string) error { return os.Mkdir(name, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			write(t, s, "other.json", text)
			if err := place(filepath.Join(s.path, "other.json"), filepath.Join(s.path, "environments.json")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Environments().Load(t.Context()); !errors.Is(err, ErrBroken) {
				t.Fatalf("read: %v", err)
			}
			err := s.Environments().Update(t.Context(), func(doc *registry.Environments) error {
				doc.Environments = append(doc.Environments, registry.Environment{EnvID: "new"})
				return nil
			})
			if !errors.Is(err, ErrBroken) || read(t, s, "other.json") != text {
				t.Fatalf("written: %v", err)
			}
		})
	}
}

func TestHostileNamesReachNoFile(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	long := strings.Repeat("A", 300)
	for _, id := range []string{"", ".", "..", "../../x", "RQ-1/../../etc", "%2e%2e%2f", "RQ\x00", "-rf", long, "A..B", "rq-1", "RQ-1\n"} {
		ref := workflow.RunRef{RequestID: id, RunID: testRef.RunID}
		_, load := s.Stage(ref).Load(t.Context())
		_, _, open := s.OpenRun(t.Context(), ref)
		_, lock := s.LockRequest(t.Context(), id, engine.Owner{})
		_, latest := s.LatestRun(t.Context(), id)
		_, _, log := s.CreateLog(testRef, "implementer."+id+".1.log")
		_, patch := s.WritePatch(testRef, id, nil)
		record := Record[struct{}](s, "../"+id, "x").Update(t.Context(), func(*struct{}) error { return nil })
		for name, err := range map[string]error{"load": load, "open": open, "lock": lock, "latest": latest, "patch": patch, "record": record} {
			if !errors.Is(err, ErrName) {
				t.Errorf("%s with id %q: %v", name, id, err)
			}
		}
		// A lower-case step id is only unknown, and the run it would be of does not exist.
		if !errors.Is(log, ErrName) && !errors.Is(log, fs.ErrNotExist) {
			t.Errorf("log with step %q: %v", id, log)
		}
	}
	if entries, _ := os.ReadDir(s.path); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestALogThatIsNoPlainFileIsRefused(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	createRun(t, s)
	write(t, s, "secret", "x")
	logs := filepath.Join(s.path, RunDir(testRef), "logs")
	for i, place := range []func(string) error{
		func(name string) error { return unix.Mkfifo(name, 0o644) },
		func(name string) error { return os.Link(filepath.Join(s.path, "secret"), name) },
		func(name string) error { return os.Symlink(filepath.Join(s.path, "secret"), name) },
	} {
		name := "implementer.S01." + strconv.Itoa(i) + ".log"
		if err := place(filepath.Join(logs, name)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.CreateLog(testRef, name); err == nil {
			t.Errorf("case %d was opened", i)
		}
	}
}
