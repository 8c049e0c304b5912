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
// fastest of each counts.
func BenchmarkIssueList(b *testing.B) {
	dir := b.TempDir()
	files := issueFiles(b, dir, 10000)
	const line = `"\(.issue)\t\(.status)"`
	commands := [][]string{{program(b), "issue", "list"}, append([]string{"jq", "-rs", "sort_by(.issue)[] | " + line}, files...),
		append([]string{"jq", "-rs", ".[] | " + line}, files...)}
	fastest := make([]time.Duration, len(commands))
	for b.Loop() {
		var first []byte
		for i, args := range commands {
			cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
			cmd.Dir = dir
			start := time.Now()
			out, err := cmd.Output()
			took := time.Since(start)
			if err != nil {
				b.Fatalf("%q: %v", args[:3], err)
			}
			if first == nil {
				first = out
			}
			if i < 2 && !bytes.Equal(out, first) {
				b.Fatalf("%q prints something else", args[:3])
			}
			if fastest[i] == 0 || took < fastest[i] {
				fastest[i] = took
			}
		}
	}
	b.ReportMetric(float64(fastest[0].Microseconds())/1000, "list-ms")
	b.ReportMetric(ratio(fastest[1], fastest[0]), "x-faster-than-jq")
	b.ReportMetric(ratio(fastest[2], fastest[0]), "x-faster-than-jq-unsorted")
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
