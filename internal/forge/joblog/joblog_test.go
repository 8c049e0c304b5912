package joblog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// step began and ended so many seconds after noon.
func step(name, conclusion string, began, ended int) Step {
	return Step{Name: name, Conclusion: conclusion, Began: noon.Add(time.Duration(began) * time.Second), Ended: noon.Add(time.Duration(ended) * time.Second)}
}

// log writes lines such as "3 words": words, printed within the third second.
func log(lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		if seconds, text, ok := strings.Cut(line, " "); ok {
			fmt.Fprintf(&b, "2026-11-26T12:00:%02s.%07dZ %s\n", seconds, i, text)
		} else {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func of(t *testing.T, text string, limit int, steps ...Step) string {
	t.Helper()
	found, err := Of(strings.NewReader(text), steps, limit)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range found {
		all = append(all, s.Step+"> "+strings.ReplaceAll(s.Text, "\n", "|"))
	}
	return strings.Join(all, "; ")
}

func TestEachFailedStepHasTheEndOfWhatItPrinted(t *testing.T) {
	t.Parallel()
	usual := []Step{step("Set up job", "success", 0, 1), step("checkout", "success", 1, 2), step("lint", "failure", 2, 4), step("test", "failure", 4, 6), step("deploy", "skipped", 6, 6), step("Post checkout", "success", 6, 7)}
	printed := log("0 Runner", "1 ##[group]Run checkout", "2 cloned", "2 ##[group]Run lint", "2 ##[endgroup]", "3 a line", "whole", "4 ##[error]lint", "4 ##[group]Run test", "5 FAIL", "6 ##[error]test", "7 Post job cleanup.")
	for _, c := range []struct {
		name, log string
		limit     int
		steps     []Step
		want      string
	}{
		{"steps are told apart by their times and beginnings", printed, 1000, usual, "lint> Run lint|a line|whole|##[error]lint|Run test; test> Run test|FAIL|##[error]test"},
		{"only the end is kept, by whole lines", printed, 16, usual, "lint> …Run test; test> …##[error]test"},
		{"a line that looks like another step's beginning hides nothing", log("2 ##[group]Run lint", "3 ##[group]Run test", "4 ##[group]Run test", "4 FAIL"), 1000,
			[]Step{step("lint", "failure", 2, 4), step("test", "success", 4, 6)}, "lint> Run lint|Run test|Run test|FAIL"},
		{"times that a program prints belong to its own step", log("2 ##[group]Run lint", "3 2026-11-26T12:00:06Z FAIL"), 1000, usual, "lint> Run lint|2026-11-26T12:00:06Z FAIL"},
		{"a canceled step counts", log("2 so far"), 1000, []Step{step("a", "success", 0, 1), step("b", "cancelled", 2, 3)}, "b> so far"},
		{"without a failed step, the whole log counts", log("0 a", "1 b"), 1000, []Step{step("a", "success", 0, 1)}, "> a|b"},
		{"without times, too", "a\nb\n", 1000, usual, "> a|b"},
		{"a job that printed nothing has no log", "", 1000, usual, ""},
		{"if every step has the job's conclusion, the one with an error counts", log("1 one", "2 ##[group]Run two", "2 ##[error]exit 1", "4 three"), 1000,
			[]Step{step("one", "failure", 1, 1), step("two", "failure", 2, 3), step("three", "failure", 4, 5)}, "two> Run two|##[error]exit 1"},
		{"Gitea leaves the marks of groups as they are, and its steps can be of one second", log("2 vm", "2 ::group::Run one", "2 ::endgroup::", "2 fine", "2 ::group::Run two", "2 ::endgroup::", "2 bad", "2 ##[error]exit 1"), 1000,
			[]Step{step("one", "failure", 2, 2), step("two", "failure", 2, 2)}, "two> Run two|bad|##[error]exit 1"},
		{"or the last one", log("1 one", "2 two"), 1000, []Step{step("one", "failure", 1, 1), step("two", "failure", 2, 3), {Name: "never", Conclusion: "failure", Began: time.Unix(0, 0)}}, "two> two"},
		{"a byte order mark is none of the log's", "\uFEFF" + log("2 x"), 1000, []Step{step("a", "failure", 2, 3)}, "a> x"},
	} {
		if got := of(t, c.log, c.limit, c.steps...); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

func TestHostileLogsAreCleanedAndBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 10
	secret := "s3cr3t-value-of-twenty-bytes"
	hide := redact.New(map[string]string{"TOKEN": secret})
	for name, text := range map[string]string{
		"escape sequences":     "\x1b[31mred\x1b[0m \x1b]0;title\a\x1b[2J\x9b31m\u202eevil\u2066",
		"an overwritten line":  "FAIL\rok  ",
		"a split secret":       secret[:9] + "\x1b[0m" + secret[9:],
		"a cut secret":         strings.Repeat("x", 7*limit) + "\n" + secret + strings.Repeat(" y", limit/2-8),
		"a line without end":   strings.Repeat("\x1b[31mé", 40*limit),
		"nothing but escapes":  strings.Repeat("\x1b[31m", 40*limit) + "seen",
		"broken characters":    strings.Repeat("\xff", 3*limit) + "\xe2\x80",
		"many short lines":     strings.Repeat("\n", 40*limit) + "seen",
		"a zero byte and more": "a\x00b\u200bc",
	} {
		found, err := Of(strings.NewReader("2026-11-26T12:00:02.0Z "+strings.ReplaceAll(text, "\n", "\n2026-11-26T12:00:02.0Z ")), []Step{step("a", "failure", 2, 2)}, limit)
		if err != nil || len(found) > 1 {
			t.Fatalf("%s: %v, %v", name, found, err)
		}
		for _, s := range found {
			shown := hide.Text(s.Text)
			if len(s.Text) > limit+len("…") || s.Text != redact.Clean(s.Text) || strings.ContainsAny(s.Text, "\r\x1b") || strings.Contains(shown, secret[12:]) {
				t.Errorf("%s: %d bytes: %.200q", name, len(s.Text), shown)
			}
		}
	}
	if got := of(t, "\x1b[1mFAIL\x1b[0m\rok\n", limit); got != "> FAIL|ok" {
		t.Errorf("an overwritten line is %q", got)
	}
}

func TestALongLineIsHandedOverInParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200<<10)
	var parts []bool
	var all strings.Builder
	if err := Lines(strings.NewReader("a\n"+long+"\nb"), func(line []byte, begins bool) {
		all.Write(line)
		parts = append(parts, begins)
	}); err != nil || all.String() != "a\n"+long+"\nb" || !slices.Equal(parts, []bool{true, true, false, false, false, true}) {
		t.Errorf("%v, and the lines begin as %v", err, parts)
	}
}

func FuzzOf(f *testing.F) {
	f.Add(log("2 ##[group]Run a", "3 x"), "failure")
	f.Fuzz(func(t *testing.T, text, conclusion string) {
		found, err := Of(strings.NewReader(text), []Step{step("a", conclusion, 2, 3), step("b", "failure", 3, 4)}, 64)
		if err != nil || len(found) > 2 || slices.ContainsFunc(found, func(s forge.StepLog) bool {
			return s.Text == "" || len(s.Text) > 64+len("…") || s.Text != redact.Clean(s.Text)
		}) {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
