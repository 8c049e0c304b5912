package health_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/health"
)

type failure struct{ name, first, again, other string }

// recorded are what programs printed: twice when the same thing was wrong, elsewhere and later, and
// once when another was. record.sh beside them made them.
func recorded(t testing.TB) (all []failure) {
	t.Helper()
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	paths, err := filepath.Glob("testdata/failures/*.first")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d are recorded, %v", len(paths), err)
	}
	for _, path := range paths {
		path = strings.TrimSuffix(path, ".first")
		all = append(all, failure{filepath.Base(path), read(path + ".first"), read(path + ".again"), read(path + ".other")})
	}
	return all
}

// made have in them what the recorded ones lack.
var made = []failure{
	{
		"a log with times, hosts and ids",
		"Nov 21 07:04:33 web-1 shop[8123]: ERROR 2026-11-21T07:04:33.123Z order=ab12cd34ef56 pid=8123 query failed after 1m2.5s: relation \"orders\" does not exist at 0xc000123abc",
		"Dec  3 19:44:01 web-1 shop[977]: ERROR 2026-12-03T19:44:01.9Z order=99887766aabb pid=977 query failed after 3ms: relation \"orders\" does not exist at 0xc0000ffe10",
		"Nov 21 07:04:33 web-1 shop[8123]: ERROR 2026-11-21T07:04:33.123Z order=ab12cd34ef56 pid=8123 query failed after 1m2.5s: relation \"users\" does not exist at 0xc000123abc",
	},
	{
		"a program that says nothing of an error",
		"3 of 4 replicas\n[07:04:33] done in 12s",
		"3 of 4 replicas\n[19:44:01] done in 150ms",
		"2 of 4 replicas\n[07:04:33] done in 12s",
	},
}

func TestTheSameErrorHasTheSameIDWheneverAndWhereverItHappens(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, o := range append(recorded(t), made...) {
		first, again, other := health.ErrorID("check", "", o.first), health.ErrorID("check", "", o.again), health.ErrorID("check", "", o.other)
		if first != again {
			t.Errorf("%s: two ids, of\n%s\nand\n%s", o.name, health.NormalMessage("", o.first), health.NormalMessage("", o.again))
		}
		if first == other {
			t.Errorf("%s: one id, of\n%s", o.name, health.NormalMessage("", o.other))
		}
		for of, id := range map[string]string{o.name: first, "other than " + o.name: other} {
			if known, twice := ids[id]; twice {
				t.Errorf("%s has the id of %s", of, known)
			}
			ids[id] = of
		}
		if health.ErrorID("another", "", o.first) == first || !strings.HasPrefix(first, "check-") || len(first) != len("check-")+12 {
			t.Errorf("%s: %q", o.name, first)
		}
	}
}

// The two messages of a pair differ by one word, and mean the same error or different ones.
func TestAWordTellsOneErrorFromAnotherOrDoesNot(t *testing.T) {
	t.Parallel()
	for pair, same := range map[[2]string]bool{
		{"--- FAIL: TestIssue1234", "--- FAIL: TestIssue5678"}:                                                        false,
		{"vulnerable to CVE-2024-1234, failed", "vulnerable to CVE-2024-9999, failed"}:                                false,
		{"a.ts(3,7): error TS2304: no", "a.ts(3,7): error TS2322: no"}:                                                false,
		{"ORA-00942: error", "ORA-01400: error"}:                                                                      false,
		{"ERROR 1045 (28000): refused", "ERROR 1146 (42S02): refused"}:                                                false,
		{"error: requires python 3.9", "error: requires python 3.12"}:                                                 false,
		{"error: no column may", "error: no column dec"}:                                                              false,
		{"error: no column May here", "error: no column Dec here"}:                                                    false,
		{"/home/a/p/cmd/a/main.go: undefined: x", "/home/a/p/cmd/b/main.go: undefined: x"}:                            false,
		{"exit status 1", "exit status 2"}:                                                                            false,
		{"failed: want 4 rows", "failed: want 5 rows"}:                                                                false,
		{"Saturday, November 21, 2026: it failed", "Sunday, November 22, 2026: it failed"}:                            true,
		{"failed on Saturday, November", "failed on Sunday, November"}:                                                true,
		{"21 Nov 2026 07:04:33 error: no", "3 Dec 2026 07:04:33 error: no"}:                                           true,
		{"FAIL x\nok  failing (cached)", "FAIL x\nok  failing 1.3s"}:                                                  true,
		{"error after 1,234 ms", "error after 2,345 ms"}:                                                              true,
		{"error: it took 999 ms", "error: it took 1,001 ms"}:                                                          true,
		{"/data/ci/p/cmd/a/main.go:3: undefined", "/Users/ann/p/cmd/a/main.go:9: undefined"}:                          true,
		{"error with seed=42", "error with seed=7"}:                                                                   true,
		{"--- FAIL: TestA\n--- FAIL: TestB (0.01s)\nFAIL", "--- FAIL: TestB (0.02s)\n--- FAIL: TestA\nFAIL\tx\t1.0s"}: false,
		{"--- FAIL: TestA\n--- FAIL: TestB (0.01s)\nFAIL", "--- FAIL: TestB (0.02s)\n--- FAIL: TestA\nFAIL"}:          true,
		{"error in /tmp/go-build1234567/b001/x.go", "error in /tmp/go-build7654321/b001/x.go"}:                        true,
	} {
		if (health.ErrorID("c", "", pair[0]) == health.ErrorID("c", "", pair[1])) != same {
			t.Errorf("%q and %q: the same is %t\n%s\n%s", pair[0], pair[1], !same, health.NormalMessage("", pair[0]), health.NormalMessage("", pair[1]))
		}
	}
}

func TestLinesThatComeInAnotherNumberAreTheSameError(t *testing.T) {
	t.Parallel()
	once := "connection refused by 10.0.0.7:5432"
	many := strings.Repeat("connection refused by 10.0.0.7:5433\n", 50)
	if a, b := health.ErrorID("c", "", once), health.ErrorID("c", "", many); a != b {
		t.Errorf("%q and %q", health.NormalMessage("", once), health.NormalMessage("", many))
	}
	if health.ErrorID("c", "", "") == health.ErrorID("c", "", once) {
		t.Error("silence is an error of its own")
	}
}

// If no error word matches, all lines identify the error, whatever our own line above them says.
func TestTheHeadDoesNotHideTheProgramsOutput(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, f := range [][2]string{
		{"exit code 1", "database is down"}, {"exit code 1", "certificate expired yesterday"}, {"exit code 1", "Killed"}, {"exit code 1", "Segmentation fault"},
		{"exit code 1", "license expired"}, {"exit code 1", "values differ: 3 != 4"}, {"exit code 1", "データベースに接続できません"}, {"exit code 1", "証明書の期限が切れています"},
		{"exit code 1", "2026年11月21日に注文を保存できません"}, {"exit code 1", "2026年11月21日に請求書を保存できません"},
		{"exit code 1", ""}, {"exit code 2", "database is down"}, {"$ make lint\nexit code 1", "database is down"}, {"$ make test\nexit code 1", "database is down"},
		{"GET http://shop/: status 500, want 200", "the shop is closed"}, {"GET http://shop/: status 500, want 200", "the till is empty"},
	} {
		id := health.ErrorID("c", f[0], f[1])
		if other, twice := ids[id]; twice {
			t.Errorf("%q has the id of %s", f, other)
		}
		ids[id] = fmt.Sprintf("%q", f)
		later := strings.ReplaceAll(f[1], "11月21日", "2月3日") + "\n[21/Nov/2026 07:04:33] \"GET / HTTP/1.1\" 500 -\n2026-11-21 listening on :8123, pid 77"
		again := strings.NewReplacer("21/Nov", "03/Dec", "07:04", "19:31", "11-21", "12-03", "8123", "9321", "77", "991", "2月3日", "12月24日").Replace(later)
		if a, b := health.NormalMessage(f[0], later), health.NormalMessage(f[0], again); a != b {
			t.Errorf("%q and %q", a, b)
		}
	}
}

func FuzzNormalMessageIsStable(f *testing.F) {
	for _, o := range append(recorded(f), made...) {
		f.Add(o.first)
	}
	f.Add("\xff\x00 0x :::1 --- //// 1234567890abcdef")
	f.Fuzz(func(t *testing.T, text string) {
		normal := health.NormalMessage("", text)
		if health.NormalMessage("", text) != normal || strings.Count(normal, "\n") >= 500 {
			t.Errorf("%q", normal)
		}
		if stamped := fmt.Sprintf("2026-11-21T07:04:33Z %s", strings.ReplaceAll(text, "\n", "\n2026-11-21T07:04:33Z ")); len(text) < 1000 && strings.Count(text, "\n") == 0 && health.NormalMessage("", stamped) != normal {
			t.Errorf("%q with a time is %q", normal, health.NormalMessage("", stamped))
		}
	})
}
