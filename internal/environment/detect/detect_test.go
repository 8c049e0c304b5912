package detect_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"signalbox/internal/environment/detect"
)

var update = flag.Bool("update", false, "write what is detected into the archives, to be read by a person")

// tree is a project in memory.
type tree map[string]string

func (f tree) List(context.Context) ([]string, error) { return slices.Collect(maps.Keys(f)), nil }

func (f tree) Read(_ context.Context, name string, limit int64) ([]byte, error) {
	text, found := f[name]
	if !found {
		return nil, fs.ErrNotExist
	}
	return []byte(text[:min(int64(len(text)), limit)]), nil
}

// look detects with the default catalogue.
func (f tree) look(t testing.TB, language string) detect.Result {
	t.Helper()
	r, err := detect.Detect(t.Context(), f, detect.Catalogue(nil), language)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each archive is a small project; its comment says what is special, and its
// last file "want" what is to be found out. "language: x" in the comment is the request's.
func TestProjects(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/projects/*.txtar")
	if err != nil || len(archives) < 20 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			project, want := tree{}, ""
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = string(f.Data)
					continue
				}
				project[f.Name] = string(f.Data)
			}
			_, language, _ := strings.Cut(string(archive.Comment), "language: ")
			got := shown(project.look(t, strings.TrimSpace(language)))
			if *update {
				rewrite(t, name, archive, got)
			} else if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, want string) {
	t.Helper()
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shown is a result as the archives have it.
func shown(r detect.Result) string {
	var b strings.Builder
	line := func(name, value string) { _, _ = fmt.Fprintf(&b, "%s: %s\n", name, value) }
	line("environment", r.Environment)
	line("reason", r.Reason)
	for _, f := range r.Files {
		line("file", strings.TrimRight(fmt.Sprintf("%s %s", f.Path, f.Problem), " "))
	}
	for _, d := range r.Dependencies {
		line("dependency", strings.TrimRight(fmt.Sprintf("%s %s %s", d.Ecosystem, d.Name, d.Constraint), " "))
	}
	for _, command := range r.SetUp {
		line("set-up", command)
	}
	if r.SetUpSource != "" {
		line("from", r.SetUpSource)
	}
	for _, v := range r.Verification {
		line("verify", v.Command)
	}
	for _, p := range r.NotSetUp {
		line("not set up", fmt.Sprintf("%s %s %q", p.Environment, p.Source, p.Commands))
	}
	for _, tool := range slices.Sorted(maps.Keys(r.Versions)) {
		line("version", tool+" "+r.Versions[tool])
	}
	for _, d := range r.Descriptions {
		line("described", strings.TrimRight(fmt.Sprintf("%s %s%s", d.Path, d.Image, d.Dockerfile), " "))
		for _, command := range d.Commands {
			line("  command", fmt.Sprintf("%q", command))
		}
		for _, command := range d.Checks {
			line("  check", command)
		}
		if d.Unfit != "" {
			line("  unfit", d.Unfit)
		}
	}
	for _, note := range r.Notes {
		line("note", note)
	}
	return b.String()
}
