package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const results = `goos: linux
BenchmarkUpdate/4KB-2         	     873	   1423515 ns/op	       744.0 update-µs	         1.20 x-floor
BenchmarkUpdate/4KB-2         	     873	   1423515 ns/op	       744.0 update-µs	         1.108 x-floor
BenchmarkUpdate/4KB-2         	     873	   1423515 ns/op	       744.0 update-µs	         9.99 x-floor
BenchmarkTransition           	     800	       10 ns/op	        12.345 x-floor
PASS
`

func TestTheMedianIsWrittenWhereThePageAsksForIt(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	const before = "| an update | – <!-- Update/4KB x-floor --> (744 <!-- Update/4KB update-µs --> µs) | 3 |\n12 <!-- Transition x-floor -->\n<!-- a comment -->"
	if err := os.WriteFile(page, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	var echo strings.Builder
	if err := update(page, strings.NewReader(results), &echo); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(page)
	const want = "| an update | 1.20 <!-- Update/4KB x-floor --> (744 <!-- Update/4KB update-µs --> µs) | 3 |\n12.3 <!-- Transition x-floor -->\n<!-- a comment -->"
	if err != nil || string(after) != want || echo.String() != results {
		t.Errorf("%v\n%s\n%s", err, after, echo.String())
	}
}

func TestAPageIsLeftAsItIsUnlessAllOfItWasMeasured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, results string }{
		"not measured":      {"1 <!-- Update/4KB x-floor --> 2 <!-- Writers x-one -->", results},
		"a failure":         {"1 <!-- Update/4KB x-floor -->", results + "FAIL\tsignalbox/internal/store\n"},
		"a failing one":     {"1 <!-- Update/4KB x-floor -->", results + "--- FAIL: BenchmarkX\n"},
		"a failure in line": {"1 <!-- Update/4KB x-floor -->", results + "BenchmarkX-2              \t--- FAIL: BenchmarkX\n"},
		"nothing at all":    {"1 <!-- Update/4KB x-floor -->", ""},
		"a page of no use":  {"no marks", results},
		"a strange figure":  {"1 <!-- Update/4KB x-floor -->", results + "BenchmarkX 5 many ns/op\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(page, []byte(c.page), 0o600); err != nil {
				t.Fatal(err)
			}
			err := update(page, strings.NewReader(c.results), io.Discard)
			if after, _ := os.ReadFile(page); err == nil || string(after) != c.page {
				t.Errorf("%v, page %q", err, after)
			}
		})
	}
}

// The page and the benchmarks belong together: a mark that no benchmark fills
// would make "make bench" fail after all of them ran.
func TestEveryMarkOfThePageNamesABenchmark(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, pattern := range []string{"../../internal/store/*_test.go", "../../internal/cli/*_test.go", "../../internal/session/*_test.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
	}
	marks := mark.FindAllStringSubmatch(string(page), -1)
	if len(marks) < 5 {
		t.Fatalf("%d marks found", len(marks))
	}
	for _, m := range marks {
		name, unit, _ := strings.Cut(m[2], " ")
		name, _, _ = strings.Cut(name, "/")
		if !strings.Contains(sources.String(), "func Benchmark"+name+"(b *testing.B)") || !strings.Contains(sources.String(), `"`+unit+`"`) {
			t.Errorf("no benchmark %s reports %s", name, unit)
		}
	}
}
