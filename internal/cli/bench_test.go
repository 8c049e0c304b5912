package cli_test

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkWholeRun measures a run of the real program, replaying an agent,
// beside the time in which at least one program that it started was at work:
// what is over is ours. x-floor is the median of their ratios; 1.10 is what a
// run with real tests may cost.
func BenchmarkWholeRun(b *testing.B) {
	for name, tests := range map[string]string{"go": "go test ./...", "shell": "grep -rq strings.Fields ."} {
		b.Run(name, func(b *testing.B) {
			var ratios, ours []float64
			for b.Loop() {
				took, children := measureRun(b, tests)
				ratios = append(ratios, float64(took)/float64(children))
				ours = append(ours, (took-children).Seconds()*1000)
			}
			slices.Sort(ratios)
			slices.Sort(ours)
			b.ReportMetric(ratios[len(ratios)/2], "x-floor")
			b.ReportMetric(ours[len(ours)/2], "ours-ms")
		})
	}
}

// measureRun carries the demonstration's request with the test command given.
func measureRun(b *testing.B, tests string) (took, children time.Duration) {
	dir := b.TempDir()
	demonstration(b, dir, tests)
	var log bytes.Buffer
	command := exec.CommandContext(b.Context(), program(b), "--verbose", "run", "1")
	command.Dir, command.Stderr = dir, &log
	start := time.Now()
	out, err := command.Output()
	took = time.Since(start)
	if err != nil {
		b.Fatalf("%v: %s%s", err, out, log.Bytes())
	}
	return took, covered(b, log.String())
}

// demonstration is the repository of "signalbox demo" before its run.
func demonstration(b *testing.B, dir, tests string) {
	b.Helper()
	err := fs.WalkDir(os.DirFS("../app/starter/demo"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join("../app/starter/demo", name))
		if err != nil {
			return err
		}
		to := strings.TrimSuffix(name, ".txt")
		if filepath.Ext(to) == ".yaml" {
			to = filepath.Join(".signalbox", to)
		}
		to = filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, bytes.ReplaceAll(content, []byte("go test ./..."), []byte(tests)), 0o600)
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "."}, {"commit", "--quiet", "-m", "Count words"}} {
		command := exec.CommandContext(b.Context(), "git", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada",
			"GIT_COMMITTER_EMAIL=ada@localhost", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
}

var programEnded = regexp.MustCompile(`msg="program ended" .*started=(\S+) took=(\S+)`)

// covered is the length of the union of the programs' times: a moment at which
// two were at work counts once.
func covered(b *testing.B, log string) (sum time.Duration) {
	type span struct{ from, to time.Time }
	var spans []span
	for _, m := range programEnded.FindAllStringSubmatch(log, -1) {
		from, err := time.Parse(time.RFC3339Nano, m[1])
		if err != nil {
			b.Fatal(err)
		}
		took, err := time.ParseDuration(m[2])
		if err != nil {
			b.Fatal(err)
		}
		spans = append(spans, span{from, from.Add(took)})
	}
	if len(spans) == 0 {
		b.Fatal("the log names no program")
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	end := spans[0].from
	for _, s := range spans {
		if s.to.After(end) {
			sum += s.to.Sub(maxTime(s.from, end))
			end = s.to
		}
	}
	return sum
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
