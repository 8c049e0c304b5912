package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// outputs are what programs really printed: twice when the same thing was wrong, and once when
// another was.
var outputs = []struct{ name, first, again, other string }{
	{
		"a compiler",
		"# shop\n./main.go:3:27: undefined: total",
		"# shop\n./main.go:8:14: undefined: total",
		"# shop\n./main.go:3:27: undefined: price",
	},
	{
		"a test runner",
		"--- FAIL: TestTotal (0.01s)\n    a_test.go:3: total of /tmp/order-2982711655 = 3, want 4\nFAIL\nFAIL\tshop\t0.018s\nFAIL",
		"--- FAIL: TestTotal (1.31s)\n    a_test.go:3: total of /tmp/order-3325758258 = 3, want 4\nFAIL\nFAIL\tshop\t2.017s\nFAIL",
		"--- FAIL: TestPrice (0.01s)\n    a_test.go:3: total of /tmp/order-2982711655 = 3, want 4\nFAIL\nFAIL\tshop\t0.018s\nFAIL",
	},
	{
		"a panic",
		"panic: runtime error: index out of range [5] with length 0\n\ngoroutine 6 [running]:\nmain.main.func1.1()\n\t/tmp/tmp.2t9UcNmOMS/a/main.go:3 +0x15\ncreated by main.main.func1 in goroutine 21\n\t/tmp/tmp.2t9UcNmOMS/a/main.go:3 +0x36",
		"panic: runtime error: index out of range [5] with length 0\n\ngoroutine 1187 [running]:\nmain.main.func1.1()\n\t/home/ada/shop/main.go:7 +0x1f\ncreated by main.main.func1 in goroutine 34\n\t/home/ada/shop/main.go:3 +0x40",
		"panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x48f2a1]\n\ngoroutine 1 [running]:",
	},
	{
		"an answer of a service",
		"GET http://127.0.0.1:43121/orders/7: status 500, want 200\n2026/11/21 07:04:33 http: panic serving 127.0.0.1:51234: assignment to entry in nil map\nrequest 7f6c1f9e-0b5d-4a30-9d5e-1f0c52a7f5d1 failed",
		"GET http://127.0.0.1:39001/orders/7: status 500, want 200\n2026/12/01 23:59:59 http: panic serving 127.0.0.1:40022: assignment to entry in nil map\nrequest 0c2d7a44-9f1b-4c55-8a6b-77d7f0a1b2c3 failed",
		"GET http://127.0.0.1:43121/prices/7: status 500, want 200\n2026/11/21 07:04:33 http: panic serving 127.0.0.1:51234: assignment to entry in nil map",
	},
	{
		"a refused connection",
		"curl: (7) Failed to connect to 127.0.0.1 port 18123 after 0 ms: Couldn't connect to server",
		"curl: (7) Failed to connect to 127.0.0.1 port 52011 after 2031 ms: Couldn't connect to server",
		"curl: (6) Could not resolve host: database.internal",
	},
	{
		"a full disk",
		"dd: error writing '/tmp/tiny.12273/x': No space left on device\n3+0 records in\n2+0 records out\n8192 bytes (8.2 kB, 8.0 KiB) copied, 6.6159e-05 s, 124 MB/s",
		"dd: error writing '/tmp/tiny.991/x': No space left on device\n3+0 records in\n2+0 records out\n8192 bytes (8.2 kB, 8.0 KiB) copied, 9.01e-05 s, 91 MB/s",
		"dd: failed to open '/tmp/tiny.12273/x': Read-only file system",
	},
	{
		"a missing module of node",
		"node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'express'\nRequire stack:\n- /tmp/tmp.2t9UcNmOMS/a/[eval]\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)",
		"node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module 'express'\nRequire stack:\n- /home/ada/shop/[eval]\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)",
		"node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'lodash'\nRequire stack:\n- /tmp/tmp.2t9UcNmOMS/a/[eval]",
	},
	{
		"a missing module of Go",
		"b.go:2:8: no required module provides package example.com/missing/thing; to add it:\n\tgo get example.com/missing/thing",
		"b.go:12:2: no required module provides package example.com/missing/thing; to add it:\n\tgo get example.com/missing/thing",
		"b.go:2:8: no required module provides package example.com/other/thing; to add it:\n\tgo get example.com/other/thing",
	},
	{
		"a test of Python",
		"F\n======================================================================\nFAIL: test_price (__main__.T.test_price)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/tmp/tmp.2t9UcNmOMS/a/test_x.py\", line 5, in test_price\n    self.assertEqual(12.5, 13.0)\nAssertionError: 12.5 != 13.0 : price of order 8320\n\nRan 1 test in 0.011s\n\nFAILED (failures=1)",
		"F\n======================================================================\nFAIL: test_price (__main__.T.test_price)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/ada/shop/test_x.py\", line 9, in test_price\n    self.assertEqual(12.5, 13.0)\nAssertionError: 12.5 != 13.0 : price of order 51077\n\nRan 1 test in 1.2s\n\nFAILED (failures=1)",
		"F\n======================================================================\nFAIL: test_stock (__main__.T.test_stock)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/tmp/tmp.2t9UcNmOMS/a/test_x.py\", line 5, in test_stock\n    self.assertEqual(12.5, 13.0)\nAssertionError: 12.5 != 13.0 : price of order 8320\n\nFAILED (failures=1)",
	},
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
	{
		"a refused file",
		"cat: /etc/shadow: Permission denied",
		"cat: /etc/shadow: Permission denied",
		"cat: /etc/sudoers: Permission denied",
	},
}

func TestTheSameErrorHasTheSameIDWheneverAndWhereverItHappens(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, o := range outputs {
		first, again, other := workflow.ErrorID("check", o.first), workflow.ErrorID("check", o.again), workflow.ErrorID("check", o.other)
		if first != again {
			t.Errorf("%s: two ids, of\n%s\nand\n%s", o.name, workflow.NormalMessage(o.first), workflow.NormalMessage(o.again))
		}
		if first == other {
			t.Errorf("%s: one id, of\n%s", o.name, workflow.NormalMessage(o.other))
		}
		for of, id := range map[string]string{o.name: first, "other than " + o.name: other} {
			if known, twice := ids[id]; twice {
				t.Errorf("%s has the id of %s", of, known)
			}
			ids[id] = of
		}
		if workflow.ErrorID("another", o.first) == first || !strings.HasPrefix(first, "check-") || len(first) != len("check-")+12 {
			t.Errorf("%s: %q", o.name, first)
		}
	}
}

func TestLinesThatComeInAnotherNumberAreTheSameError(t *testing.T) {
	t.Parallel()
	once := "connection refused by 10.0.0.7:5432"
	many := strings.Repeat("connection refused by 10.0.0.7:5433\n", 50)
	if a, b := workflow.ErrorID("c", once), workflow.ErrorID("c", many); a != b {
		t.Errorf("%q and %q", workflow.NormalMessage(once), workflow.NormalMessage(many))
	}
	if workflow.ErrorID("c", "") == workflow.ErrorID("c", once) {
		t.Error("silence is an error of its own")
	}
}

func FuzzNormalMessageIsStable(f *testing.F) {
	for _, o := range outputs {
		f.Add(o.first)
	}
	f.Add("\xff\x00 0x :::1 --- //// 1234567890abcdef")
	f.Fuzz(func(t *testing.T, text string) {
		normal := workflow.NormalMessage(text)
		if workflow.NormalMessage(text) != normal || strings.Count(normal, "\n") >= 20 {
			t.Errorf("%q", normal)
		}
		if stamped := fmt.Sprintf("2026-11-21T07:04:33Z %s", strings.ReplaceAll(text, "\n", "\n2026-11-21T07:04:33Z ")); len(text) < 1000 && strings.Count(text, "\n") == 0 && workflow.NormalMessage(stamped) != normal {
			t.Errorf("%q with a time is %q", normal, workflow.NormalMessage(stamped))
		}
	})
}
