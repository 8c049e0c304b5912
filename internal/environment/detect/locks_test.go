package detect_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/environment/detect"
)

func TestLocksAreTheDigestsOfEveryFileThatDecidesTheSetup(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 300<<10)
	project := tree{
		"go.mod": "module a\nrequire a.b/c v1.0.0\n", "go.sum": large, "web/package.json": "{", "README.md": "x", "Dockerfile": "FROM a",
		"Makefile": "deps:\n\tgo mod download && sh scripts/fetch.sh\n", "scripts/fetch.sh": "true", "scripts/other.sh": "false", ".nvmrc": "22",
	}
	locks := project.look(t, "go").Locks()
	want := []string{"Makefile", "go.mod", "go.sum", "scripts/fetch.sh", "web/package.json"}
	if got := slices.Sorted(maps.Keys(locks)); !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for name, got := range locks {
		if sum := sha256.Sum256([]byte(project[name])); got != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: digest %s", name, got)
		}
	}
	project["go.sum"] = large[1:] + "y"
	if again := project.look(t, "go").Locks(); again["go.sum"] == locks["go.sum"] {
		t.Error("a change after the part that is kept is not seen")
	}
}

func TestResultIsWrittenUnderTheNamesOfTheSpecification(t *testing.T) {
	t.Parallel()
	r := tree{"go.mod": "module a\nrequire a.b/c v1.0.0\n"}.look(t, "")
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		DetectedFiles map[string]string `json:"detected_files"`
		Environment   string            `json:"environment_type"`
		Dependencies  []map[string]any  `json:"dependencies"`
		SetUp         []string          `json:"setup_commands"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.DetectedFiles["go.mod"] != "module a\nrequire a.b/c v1.0.0\n" || got.Environment != "go" || len(got.Dependencies) != 1 || len(got.SetUp) != 1 {
		t.Errorf("got %s", data)
	}
	var again detect.Result
	if err := json.Unmarshal(data, &again); err != nil || again.Files[0] != r.Files[0] {
		t.Errorf("read again: %+v, %v", again.Files, err)
	}
}

func TestConfiguredImagesReplaceAndAdd(t *testing.T) {
	t.Parallel()
	all := detect.Catalogue(map[string]string{"node": "node:20", "rust": "rust:1"})
	r, err := detect.Detect(t.Context(), tree{"package.json": "{}"}, all, "")
	if err != nil || r.Environment != "node" || r.Image != "node:20" {
		t.Errorf("%s %s, %v", r.Environment, r.Image, err)
	}
	if r, err = detect.Detect(t.Context(), tree{}, all, "Rust"); err != nil || r.Environment != "rust" || r.Image != "rust:1" {
		t.Errorf("%s %s, %v", r.Environment, r.Image, err)
	}
}

func TestFolderIsWalkedAndReadWithoutFollowingLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module a\n", "vendor/modules.txt": "", "node_modules/a/package.json": "{}", ".git/config": "", "sub/package.json": "{}"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(dir, "setup.py")), os.Symlink("go.mod", filepath.Join(dir, "pom.xml")),
		syscall.Mkfifo(filepath.Join(dir, "Makefile"), 0o600)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	folder := detect.Folder{Root: root}
	names, err := folder.List(t.Context())
	slices.Sort(names)
	if want := []string{"go.mod", "sub/package.json", "vendor/modules.txt"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, want %q", names, err, want)
	}
	for _, name := range []string{"setup.py", "pom.xml", "Makefile", "../x", "sub"} {
		if text, err := folder.Read(t.Context(), name, 100); err == nil {
			t.Errorf("%s is read: %q", name, text)
		}
	}
	if text, err := folder.Read(t.Context(), "go.mod", 3); err != nil || string(text) != "mod" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := folder.Read(t.Context(), "gone", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
