package layering_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// selections are where tests are chosen by name: a file, what is around a pattern in it, and the packages that it's for.
var selections = []struct {
	file, around string
	packages     []string
}{
	{"scripts/suite.sh", `(?m)^shared=(?:'|"\$shared\|)([^'"]+)['"]`, []string{"internal/cli", "internal/environment/clone"}},
	{"scripts/suite.sh", `-run (\w+) \$agents`, []string{"internal/agent/claude"}},
	{"Makefile", `-run '([^']+)' \./internal/cli `, []string{"internal/cli"}},
	{"Makefile", `-run '([^']+)' \./internal/environment/clone `, []string{"internal/environment/clone"}},
	{"Makefile", `-run '([^']+)' \./internal/forge/github `, []string{"internal/forge/github"}},
	{"Makefile", `-run '([^']+)' \./internal/forge/gitlab `, []string{"internal/forge/gitlab"}},
	{"Makefile", `-run '([^']+)' \./internal/forge/gitea `, []string{"internal/forge/gitea"}},
	{"Makefile", `-run '([^']+)' \./internal/store`, []string{"internal/store"}},
	{"Makefile", `(?m)^BENCHMARKS = \^(\S+?)\$`, []string{"internal/cli", "internal/store"}},
}

// A test that is renamed leaves a pattern without a word.
func TestEveryPatternOfTheSuiteNamesTests(t *testing.T) {
	t.Parallel()
	for _, s := range selections {
		text, err := os.ReadFile(filepath.Join("..", s.file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(s.around).FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no %s", s.file, s.around)
		}
		names := testsIn(t, s.packages)
		for _, match := range found {
			for _, pattern := range alternatives(match[1]) {
				if !regexp.MustCompile(strings.ReplaceAll(pattern, "/", ".*/.*")).MatchString(names) {
					t.Errorf("%s: no test of %v is named %s", s.file, s.packages, pattern)
				}
			}
		}
	}
}

// alternatives writes a pattern out: a(b|c)|d is ab, ac and d.
func alternatives(pattern string) (all []string) {
	depth, begin := 0, 0
	for i, c := range pattern + "|" {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			all, begin = append(all, pattern[begin:i]), i+1
		}
	}
	if len(all) == 1 && strings.Contains(pattern, "(") {
		before, within, _ := strings.Cut(pattern, "(")
		within, after, _ := strings.Cut(within, ")")
		all = nil
		for _, one := range strings.Split(within, "|") {
			all = append(all, before+one+after)
		}
		return all
	}
	if len(all) > 1 {
		var deeper []string
		for _, one := range all {
			deeper = append(deeper, alternatives(one)...)
		}
		return deeper
	}
	return all
}

var (
	testNames = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	caseName  = regexp.MustCompile(`(?:name: |^\s*|Run\()"([^"\n]+)"[:,]`)
)

// testsIn has a line for every test of the packages, and for every case that its file names.
func testsIn(t *testing.T, packages []string) string {
	t.Helper()
	var names strings.Builder
	for _, dir := range packages {
		files, err := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("tests of %s: %v, %v", dir, files, err)
		}
		stories, _ := filepath.Glob(filepath.Join("..", dir, "testdata/script/*.txtar"))
		for _, story := range stories {
			names.WriteString("TestScripts/" + strings.TrimSuffix(filepath.Base(story), ".txtar") + "\n")
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, test := range testNames.FindAllStringSubmatch(string(text), -1) {
				names.WriteString(test[1] + "\n")
				for line := range strings.Lines(string(text)) {
					for _, c := range caseName.FindAllStringSubmatch(line, -1) {
						names.WriteString(test[1] + "/" + strings.ReplaceAll(c[1], " ", "_") + "\n")
					}
				}
			}
		}
	}
	return names.String()
}
