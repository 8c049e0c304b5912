package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// Scripts call one-word commands in loops, so nothing may be made before main
// that one of them does not need.
const (
	maxInitAllocs  = 400  // of one package; the dearest that is not ours has 300
	maxTotalAllocs = 1750 // 174 of them of the shell's parser
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) .* (\d+) allocs$`)

func TestNothingDearIsMadeBeforeMain(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), program(t), "issue", "get", "42")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	lines, total := initLine.FindAllStringSubmatch(string(trace), -1), 0
	for _, line := range lines {
		allocs, _ := strconv.Atoi(line[2]) // digits
		total += allocs
		if allocs > maxInitAllocs {
			t.Errorf("package %s makes %d allocations before main, want at most %d", line[1], allocs, maxInitAllocs)
		}
	}
	if total > maxTotalAllocs || len(lines) < 10 {
		t.Errorf("%d packages make %d allocations before main, want at most %d", len(lines), total, maxTotalAllocs)
	}
}

// The cold start is compared with what scripts call today, turn by turn; the
// fastest of each counts, because all else is somebody else's work.
func BenchmarkColdStart(b *testing.B) {
	dir := b.TempDir()
	status := filepath.Join(dir, ".worktrees", ".status", "42.json")
	if err := os.MkdirAll(filepath.Dir(status), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(status, []byte(`{"issue":42,"status":"running","session":"s","timestamp":"2026-01-01T00:00:00Z"}`+"\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	commands := [][]string{{program(b), "issue", "get", "42"}, {"bash", "-c", "true"}, {"jq", "-r", ".status", status}}
	fastest := make([]time.Duration, len(commands))
	turns := 0
	for b.Loop() {
		for i, args := range commands {
			cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
			cmd.Dir = dir
			start := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatalf("%q: %v", args, err)
			}
			if took := time.Since(start); fastest[i] == 0 || took < fastest[i] {
				fastest[i] = took
			}
		}
		turns++
	}
	bash, jq := ratio(fastest[0], fastest[1]), ratio(fastest[2], fastest[0])
	b.ReportMetric(float64(fastest[0].Microseconds()), "us/get")
	b.ReportMetric(bash, "x-bash")
	b.ReportMetric(jq, "x-faster-than-jq")
	if turns >= 20 && (bash > 3 || jq < 4) {
		b.Errorf("issue get takes %.1f times bash, want at most 3; and is %.1f times faster than jq, want at least 4", bash, jq)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
