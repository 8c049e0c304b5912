package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func TestWhatAnOlderToolLeftIsReadAndMovesWithTheNextUpdate(t *testing.T) {
	t.Parallel()
	var said []string
	s, err := Open(t.Context(), Config{Root: t.TempDir(), Fixed: func(path string, notes []string) {
		said = append(said, path+": "+strings.Join(notes, "; "))
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := os.Mkdir(filepath.Join(s.path, ".opencode"), 0o755); err != nil {
		t.Fatal(err)
	}
	const old = `{"environments": [{"env_id": "a", "phase": 9, "step": "pr-create", "x": 1}]}`
	write(t, s, ".opencode/environments.json", old)
	doc, err := s.Environments().Load(t.Context())
	if err != nil || len(doc.Environments) != 1 || doc.Environments[0].Phase != workflow.PRCreate {
		t.Fatalf("%+v, %v", doc, err)
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "old number of pr-create") || !strings.Contains(all, ".opencode/environments.json") {
		t.Errorf("said: %q", said)
	}
	if err := s.Environments().Update(t.Context(), func(*registry.Environments) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "environments.json"); !strings.Contains(got, `"phase": 11`) || !strings.Contains(got, `"x":`) {
		t.Errorf("the file is %s", got)
	}
	if got := read(t, s, ".opencode/environments.json"); got != old {
		t.Errorf("the older tool's file became %s", got)
	}
	said = nil
	if _, err := s.Environments().Load(t.Context()); err != nil || len(said) > 0 {
		t.Errorf("after the update: %q, %v", said, err)
	}
}

func TestABrokenFileOfAnOlderToolIsNamedAndNothingTakesItsPlace(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	if err := os.Mkdir(filepath.Join(s.path, ".opencode"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, s, ".opencode/environments.json", `{"environments": [`)
	err := s.Environments().Update(t.Context(), func(*registry.Environments) error { return nil })
	if err == nil || !strings.Contains(err.Error(), ".opencode/environments.json") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(filepath.Join(s.path, "environments.json")); !os.IsNotExist(err) {
		t.Errorf("environments.json: %v", err)
	}
}
