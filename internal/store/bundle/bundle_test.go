package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/store"
	"signalbox/internal/store/bundle"
	"signalbox/internal/workflow"
)

const key = "0123456789abcdef0123456789abcdef"

var ref = workflow.RunRef{RequestID: "RQ-20260101-001", RunID: "20260101-120000-abcdef"}

func open(t *testing.T, root string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// project has a run with a log, a transcript, a patch and a record.
func project(t *testing.T) (root string, s *store.Store, run workflow.Run) {
	t.Helper()
	root = t.TempDir()
	s = open(t, root)
	run = workflow.New(workflow.Start{RequestID: ref.RequestID, RunID: ref.RunID, Number: 1, Title: "Greet", Branch: "signalbox/1-greet", Base: "main"}, time.Unix(1, 0).UTC())
	run.Details.PullRequest = &workflow.PullRequest{Number: 7}
	if err := s.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"implementer.S01.1.log": strings.Repeat("a line of the log\n", 8<<10), "implementer.S01.1.log.transcript.jsonl": "{}\n"} {
		log, _, err := s.CreateLog(ref, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(log, content); err != nil {
			t.Fatal(err)
		}
		_ = log.Close()
	}
	_, err := s.WritePatch(ref, "S01.patch", func(w io.Writer) error { _, err := io.WriteString(w, "+hello\n"); return err })
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".signalbox/pulls/7.json", `{"number": 7, "key": "k", "branch": "signalbox/1-greet", "base": "main", "state": "open", "new": {"a": [1.50]}}`)
	write(t, root, ".signalbox/pulls/8.json", `{"number": 8}`)
	return root, s, run
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, s *store.Store, run workflow.Run) []bundle.File {
	t.Helper()
	b, err := bundle.Collect(t.Context(), s, run, []bundle.Ref{{Name: "refs/heads/signalbox/1-greet", ID: strings.Repeat("a", 40)}}, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.Files(key)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestABundleIsTheRunElsewhere(t *testing.T) {
	t.Parallel()
	_, s, run := project(t)
	all := files(t, s, run)
	b, err := bundle.Open(1, all, key)
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; len(m.LeftOut) != 1 || len(m.Cut) != 1 {
		t.Errorf("left out %v, cut %v", m.LeftOut, m.Cut)
	}
	if string(b.Orders()) != "{}" {
		t.Errorf("the orders are %q", b.Orders())
	}
	root := t.TempDir()
	other := open(t, root)
	for range 2 { // again over itself
		if err := errors.Join(b.Records(t.Context(), other), b.Place(root)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := other.LoadRun(t.Context(), ref)
	if err != nil || got.Title != "Greet" {
		t.Errorf("%+v, %v", got, err)
	}
	record, err := os.ReadFile(filepath.Join(root, ".signalbox/pulls/7.json"))
	if err != nil || !bytes.Contains(record, []byte("1.50")) {
		t.Errorf("%s, %v", record, err)
	}
	log, err := os.ReadFile(filepath.Join(root, store.RunDir(ref), "logs/implementer.S01.1.log"))
	if err != nil || len(log) > 66<<10 || !bytes.HasPrefix(log, []byte("… the first 81920 bytes of this log are where it was written\na line of the log\n")) {
		t.Errorf("%d bytes: %.200s, %v", len(log), log, err)
	}
	if again := files(t, other, got); len(again) != len(all) || got.RunID != run.RunID {
		t.Errorf("it has %d files, and there %d", len(all), len(again))
	}
}

// A checkout that has more of the run than travels keeps that.
func TestWhatOnlyTheRunHereHasStays(t *testing.T) {
	t.Parallel()
	root, s, run := project(t)
	b, err := bundle.Open(1, files(t, s, run), key)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, store.RunDir(ref))
	write(t, filepath.Dir(dir), ".tmp-1-1-0-"+ref.RunID+"/stage.json", "what a killed restore left")
	lock, err := os.Stat(filepath.Join(dir, ".lock"))
	if err == nil {
		err = b.Place(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"logs/implementer.S01.1.log": 18 * 8 << 10, "logs/implementer.S01.1.log.transcript.jsonl": 3, "patches/S01.patch": 7} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(content) != size {
			t.Errorf("%s has %d bytes, %v", name, len(content), err)
		}
	}
	if now, err := os.Stat(filepath.Join(dir, ".lock")); err != nil || !os.SameFile(lock, now) {
		t.Errorf("the lock is another file: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Errorf("beside the run there is %v", left)
	}
}

func TestOnlyItsKeyOpensABundle(t *testing.T) {
	t.Parallel()
	_, s, run := project(t)
	all := files(t, s, run)
	if _, err := bundle.Open(1, all, strings.Repeat("x", 32)); !errors.Is(err, bundle.ErrSeal) {
		t.Errorf("another key: %v", err)
	}
	for i := range all {
		other := append([]bundle.File{}, all...)
		other[i].Content = append(bytes.Clone(all[i].Content), ' ')
		if _, err := bundle.Open(1, other, key); !errors.Is(err, bundle.ErrSeal) && all[i].Path != "seal" {
			t.Errorf("%s changed: %v", all[i].Path, err)
		}
		if _, err := bundle.Open(1, append(other[:i], other[i+1:]...), key); !errors.Is(err, bundle.ErrSeal) {
			t.Errorf("%s missing: %v", all[i].Path, err)
		}
	}
	if _, err := bundle.Open(2, all, key); err == nil {
		t.Error("it opens as another request's")
	}
}

// Nothing but what a run consists of gets anywhere, even with everyone's trust.
func TestABundleWithAnythingElseIsRefused(t *testing.T) {
	t.Parallel()
	_, s, run := project(t)
	all := files(t, s, run)
	if _, err := bundle.Open(1, all, ""); err != nil {
		t.Fatal(err)
	}
	for _, f := range []bundle.File{
		{"run/.lock", nil}, {"run/logs/.lock", nil}, {"run/logs/x.sh", nil}, {"run/logs/a.b.1.log.transcript.jsonl", nil}, {"run/patches/a/b.patch", nil},
		{"run/other.json", nil}, {"config.yaml", nil}, {"records/locks/1.json", []byte("{}")}, {"records/pulls/8.json", []byte(`{"number":8}`)},
		{"records/pulls/7.json", []byte(`{"number":7,"branch":"signalbox/2-other","base":"main"}`)}, {"records/pulls/7.json", []byte(`{"number":7,"number":7}`)},
		{"records/requests/1.json", []byte(`{"id":"RQ-20260101-002","number":1}`)}, {"records/issues/2.json", []byte(`{}`)}, {"records/issues/1.json", []byte(`[]`)},
		{"run/stage.json", []byte(`{}`)}, {"run/events.jsonl", []byte("{\"seq\":1}\n{\"seq\":1}\n")}, {"run/errors.json", []byte(`{"a":1}`)},
		{"run/patches/S02.patch", make([]byte, 2<<20)}, {"run/logs/a.b.1.log", make([]byte, 1<<20)},
	} {
		if _, err := bundle.Open(1, with(all, f), ""); err == nil {
			t.Errorf("%s %.60q is taken", f.Path, f.Content)
		}
	}
	for was, now := range map[string]string{`"run_id": "2026`: `"run_id": "../2026`, `"RQ-20260101-001"`: `"RQ-20260101-002"`, `refs/heads/signalbox/1-greet`: `refs/heads/main`,
		`refs/heads/`: `refs/signalbox/kept/2/`, `"version": "1"`: `"version": "2"`, `"refs"`: `"Refs"`} {
		manifest := bytes.Replace(content(all, "manifest.json"), []byte(was), []byte(now), 1)
		if _, err := bundle.Open(1, with(all, bundle.File{Path: "manifest.json", Content: manifest}), ""); err == nil || bytes.Equal(manifest, content(all, "manifest.json")) {
			t.Errorf("a manifest with %s is taken: %v", now, err)
		}
	}
}

func content(all []bundle.File, path string) []byte {
	for _, f := range all {
		if f.Path == path {
			return f.Content
		}
	}
	return nil
}

func with(all []bundle.File, f bundle.File) (changed []bundle.File) {
	for _, other := range all {
		if other.Path != f.Path {
			changed = append(changed, other)
		}
	}
	return append(changed, f)
}
