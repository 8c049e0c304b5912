package layering_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Each promise of docs/security.md names a test, and the test is there.
func TestEveryPromiseOfTheSecurityPageHasItsTest(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	page, err := fs.ReadFile(root, "docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if path.Ext(name) == ".txtar" {
			known[path.Base(name)] = true
		}
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
			text, err := fs.ReadFile(root, name)
			for _, found := range testFunc.FindAllStringSubmatch(string(text), -1) {
				known[found[1]] = true
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := promisedBy.FindAllStringSubmatch(string(page), -1)
	if len(named) < 20 {
		t.Fatalf("the page names %d tests only", len(named))
	}
	for _, n := range named {
		if !known[n[1]] {
			t.Errorf("there is no test %s", n[1])
		}
	}
}

var (
	testFunc   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	promisedBy = regexp.MustCompile("`(Test\\w+|[a-z-]+\\.txtar)`")
)
