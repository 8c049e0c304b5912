package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// maxPass is how many times as long as its slowest check a pass over 50 healthy ones may take.
const maxPass = 1.2

// Passes over 50 checks that pass, each in a sandbox of its own, the slowest of which takes a second; and
// over that one alone, which is what all the rest of a pass takes. The fastest of each counts, because all
// else is somebody else's work.
func BenchmarkFiftyHealthyChecksInSandboxes(b *testing.B) {
	fifty := []string{"{id: slowest, kind: command, command: sleep 1}"}
	for i := range 49 {
		fifty = append(fifty, fmt.Sprintf("{id: c%d, kind: command, command: 'true'}", i))
	}
	ways := []struct {
		name, dir string
		fastest   time.Duration
	}{{name: "fifty", dir: lookedAfter(b, fifty)}, {name: "one", dir: lookedAfter(b, fifty[:1])}}
	rounds := 0
	for ; b.Loop(); rounds++ {
		for i, way := range ways {
			heal := exec.CommandContext(b.Context(), program(b), "heal")
			heal.Dir = way.dir
			begun := time.Now()
			if out, err := heal.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			if took := time.Since(begun); way.fastest == 0 || took < way.fastest {
				ways[i].fastest = took
			}
		}
	}
	for _, way := range ways {
		b.ReportMetric(way.fastest.Seconds(), way.name+"-x-slowest")
	}
	if ratio := ways[0].fastest.Seconds(); rounds >= 10 && ratio > maxPass {
		b.Errorf("a pass takes %.2f times as long as its slowest check, want at most %g", ratio, maxPass)
	}
}

// lookedAfter is a repository with these health checks.
func lookedAfter(b *testing.B, checks []string) string {
	b.Helper()
	dir := projectDir(b)
	settings := filepath.Join(dir, ".signalbox", "config.yaml")
	text := "agents: {nobody: {driver: command, command: ['false']}}\nhealth:\n  checks:\n    - " + strings.Join(checks, "\n    - ") + "\n"
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet", "--template=", "--initial-branch=main"}, {"add", "."},
		{"-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "--quiet", "-m", "Begin"}} {
		git := exec.CommandContext(b.Context(), "git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}
