package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAFileThatHasNotChangedIsReadOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name, long := filepath.Join(folder, "1.md"), time.Now().Add(-time.Hour)
	write := func(title string) {
		t.Helper()
		text := fmt.Sprintf("---\nid: RQ-20260101-001\nnumber: 1\ntitle: %s\n---\n", title)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	var r readings
	title := func() string {
		t.Helper()
		request, err := r.request(root, "1.md", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return request.Title
	}
	write("One")
	if title(); len(r.files) != 0 {
		t.Error("a file that was written a moment ago is taken for one that cannot change unseen")
	}
	info, err := root.Lstat("1.md")
	if err != nil {
		t.Fatal(err)
	}
	r.files = map[string]reading{"1.md": {of: stateOf(info)}} // as if it had been read long ago
	if got := title(); got != "" {
		t.Errorf("an unchanged file is read again: %q", got)
	}
	write("Two")
	if err := os.Chtimes(name, long, info.ModTime()); err != nil { // the same size and time, as an editor may leave them
		t.Fatal(err)
	}
	if got := title(); got != "Two" {
		t.Errorf("a changed file is not read again: %q", got)
	}
}
