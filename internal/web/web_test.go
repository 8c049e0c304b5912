package web

import (
	"io/fs"
	"regexp"
	"testing"

	"signalbox/internal/language"
)

var named = regexp.MustCompile(`say "([^"]*)"|Page\("([^"]*)"|Say\("([^"]*)"`)

func TestEveryTextOfThePagesExists(t *testing.T) {
	t.Parallel()
	names := 0
	entries, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := files.ReadFile(entry)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(data), -1) {
			if names++; !language.HasPage(m[1]) {
				t.Errorf("%s has no text %q", entry, m[1])
			}
		}
	}
	for _, c := range columns {
		for _, kind := range []string{"column-", "empty-"} {
			if !language.HasPage(kind + c.name) {
				t.Errorf("there is no text %q", kind+c.name)
			}
		}
	}
	for _, kind := range kinds {
		if !language.HasPage("filter-" + kind) {
			t.Errorf("there is no text for the filter %q", kind)
		}
	}
	for _, s := range shortcuts {
		if !language.HasPage(s.Name) {
			t.Errorf("there is no text %q", s.Name)
		}
	}
	for _, label := range entryLabels {
		if !language.HasPage(label) {
			t.Errorf("there is no text %q", label)
		}
	}
	if names < 50 {
		t.Fatalf("only %d names of texts are found: this test looks in the wrong place", names)
	}
}
