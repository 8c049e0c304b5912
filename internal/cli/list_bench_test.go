package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkIssueList compares the listing of ten thousand issues, from the start
// of the program to its end, with jq over the same files: with one that prints
// the same lines in the same order, and with one that leaves out the order. The
// fastest of each counts. The time of all processors together tells what a
// machine has to do that is busy with something else.
func BenchmarkIssueList(b *testing.B) {
	dir := b.TempDir()
	files := issueFiles(b, dir, 10000)
	const line = `"\(.issue)\t\(.status)"`
	list := &timed{args: []string{program(b), "issue", "list"}}
	sorted := &timed{args: append([]string{"jq", "-rs", "sort_by(.issue)[] | " + line}, files...)}
	unsorted := &timed{args: append([]string{"jq", "-rs", ".[] | " + line}, files...)}
	for b.Loop() {
		for range 10 {
			lines := sorted.run(b, dir)
			if !bytes.Equal(list.run(b, dir), lines) || len(unsorted.run(b, dir)) != len(lines) {
				b.Fatal("jq prints something else")
			}
		}
	}
	b.ReportMetric(float64(list.fastest.Microseconds())/1000, "list-ms")
	b.ReportMetric(ratio(sorted.fastest, list.fastest), "x-faster-than-jq")
	b.ReportMetric(ratio(unsorted.fastest, list.fastest), "x-faster-than-jq-unsorted")
	b.ReportMetric(ratio(sorted.least, list.least), "x-less-processor-time")
}

// timed is a command and the best of its runs.
type timed struct {
	args           []string
	fastest, least time.Duration // from start to end, and of all processors together
}

func (c *timed) run(b *testing.B, dir string) []byte {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), c.args[0], c.args[1:]...)
	cmd.Dir = dir
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if err != nil {
		b.Fatalf("%q: %v", c.args[:3], err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if c.fastest == 0 {
		c.fastest, c.least = took, used
	}
	c.fastest, c.least = min(c.fastest, took), min(c.least, used)
	return out
}

// issueFiles are the status of so many issues, a third of them running, complete
// and in error each, in the layout in which Signalbox writes them.
func issueFiles(b *testing.B, dir string, count int) (names []string) {
	b.Helper()
	folder := filepath.Join(".worktrees", ".status")
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
		b.Fatal(err)
	}
	for issue := 1; issue <= count; issue++ {
		word := [...]string{"running", "complete", "error"}[issue%3]
		message := ""
		if word == "error" {
			message = "  \"error_message\": \"Session unexpectedly terminated\",\n"
		}
		text := fmt.Sprintf("{\n  \"issue\": %d,\n  \"status\": %q,\n  \"session\": \"signalbox-issue-%d\",\n%s  \"timestamp\": \"2026-11-20T10:11:12Z\"\n}\n",
			issue, word, issue, message)
		name := filepath.Join(folder, fmt.Sprintf("%d.json", issue))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}
