package layering_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page that names a file of ours, or links to one, names one that is there.
func TestFilesThatPagesNameAreThere(t *testing.T) {
	t.Parallel()
	pages, err := fs.Glob(os.DirFS(".."), "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range ownFile.FindAllStringSubmatch(string(text), -1) {
			named++
			pattern := filepath.Join("..", strings.ReplaceAll(found[1], "…", "*"))
			if at, err := filepath.Glob(pattern); err != nil || len(at) == 0 {
				t.Errorf("%s names %s, which is not there", page, found[1])
			}
		}
		for _, found := range pageLink.FindAllStringSubmatch(string(text), -1) {
			named++
			to, part, _ := strings.Cut(found[1], "#")
			file := filepath.Join("..", filepath.Dir(page), to)
			if to == "" {
				file = filepath.Join("..", page)
			}
			there, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s links to %s, which is not there", page, found[1])
			} else if part != "" && !hasHeading(string(there), part) {
				t.Errorf("%s links to %s, which has no such heading", page, found[1])
			}
		}
	}
	if named < 60 {
		t.Fatalf("the pages name %d files only", named)
	}
}

// What a newcomer asks of the README first: what it looks like, why they would want it, what else there is, and how to get it.
func TestTheReadmeAnswersWhatANewcomerAsksFirst(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for question, answer := range map[string]string{"what does it look like": "](docs/demo.svg)", "why": "\n## Why\n",
		"what else is there": "How it compares with what people use today:\n\n|", "how do I get it": "\n## Install\n"} {
		if !strings.Contains(string(text), answer) {
			t.Errorf("%s? README.md lacks %q", question, answer)
		}
	}
}

var (
	ownFile  = regexp.MustCompile("`((?:internal|cmd|scripts|schemas|performance|sbom)/[A-Za-z0-9_./*…-]*)`")
	pageLink = regexp.MustCompile(`\]\(([^():]*\.(?:md|svg)(?:#[a-z0-9-]+)?|#[a-z0-9-]+|LICENSE)\)`)
)

// hasHeading reports whether a page has the heading that a link names: in small letters, with hyphens for spaces.
func hasHeading(page, name string) bool {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		if punctuation.ReplaceAllString(strings.ReplaceAll(strings.ToLower(found[1]), " ", "-"), "") == name {
			return true
		}
	}
	return false
}

var (
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	punctuation = regexp.MustCompile(`[^a-z0-9_-]`)
)
