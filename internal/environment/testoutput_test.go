package environment_test

import (
	"strings"
	"testing"

	"signalbox/internal/environment"
)

func TestTestRunnersOutputIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output  string
		failed  string // joined by |
		unnamed bool
		none    bool
	}{
		"go, all well":          {output: "ok  \texample.com/a\t0.003s\n?   \texample.com/b\t[no test files]\n"},
		"go, cached":            {output: "ok  \texample.com/a\t(cached)\n"},
		"go, one fails":         {output: "--- FAIL: TestA (0.00s)\n    a_test.go:5: no\nFAIL\nFAIL\texample.com/a\t0.003s\nok  \texample.com/b\t0.1s\nFAIL\n", failed: "example.com/a.TestA"},
		"go, a subtest":         {output: "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/empty (0.00s)\nFAIL\nFAIL\texample.com/a\t0.003s\n", failed: "example.com/a.TestA|example.com/a.TestA/empty"},
		"go, does not build":    {output: "# example.com/a [example.com/a.test]\n./a_test.go:3:1: undefined: x\nFAIL\texample.com/a [build failed]\nFAIL\n", unnamed: true},
		"go, a panic":           {output: "--- FAIL: TestA (0.00s)\npanic: no [recovered]\n\tpanic: no\nFAIL\texample.com/a\t0.003s\n", failed: "example.com/a.TestA", unnamed: true},
		"go, an exit":           {output: "FAIL\texample.com/a\t0.003s\nFAIL\n", unnamed: true},
		"go, no test files":     {output: "?   \texample.com/a\t[no test files]\n?   \texample.com/b\t[no test files]\n", none: true},
		"go, nothing to run":    {output: "testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.003s [no tests to run]\n", none: true},
		"go, no packages":       {output: "go: warning: \"./...\" matched no packages\nno packages to test\n", none: true},
		"pytest":                {output: "=== short test summary info ===\nFAILED tests/test_a.py::test_old - assert 1 == 2\nFAILED tests/test_a.py::TestB::test_c[a b]\n=== 2 failed, 3 passed in 0.02s ===\n", failed: "tests/test_a.py::test_old|tests/test_a.py::TestB::test_c[a b]"},
		"pytest, passes":        {output: "...\n3 passed in 0.02s\n"},
		"pytest, does not load": {output: "ERROR tests/test_a.py - ImportError: no\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.02s ===\n", unnamed: true},
		"pytest, none":          {output: "collected 0 items\n\n=== no tests ran in 0.01s ===\n", none: true},
		"unittest":              {output: "FAIL: test_old (tests.test_a.TestA.test_old)\n-----\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n", failed: "test_old in tests.test_a.TestA.test_old"},
		"unittest, none":        {output: "\n----\nRan 0 tests in 0.000s\n\nOK\n", none: true},
		"unittest, 3.12":        {output: "\n----\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", none: true},
		"unittest, no module":   {output: "ERROR: tests.test_b (unittest.loader._FailedTest.tests.test_b)\nImportError: Failed to import test module: tests.test_b\nRan 1 test in 0.0s\n", failed: "tests.test_b in unittest.loader._FailedTest.tests.test_b", unnamed: true},
		"jest":                  {output: "FAIL ./a.test.js\n  ● sum › adds\n\n    expect(...)\n\nTests:       1 failed, 2 passed, 3 total\n", failed: "sum › adds"},
		"jest, none":            {output: "No tests found, exiting with code 1\n", none: true},
		"vitest":                {output: " FAIL  test/a.test.ts > sum > adds\nAssertionError\n Tests  1 failed | 2 passed (3)\n", failed: "test/a.test.ts > sum > adds"},
		"mocha":                 {output: "  sum\n    1) adds\n\n  1 passing (4ms)\n  1 failing\n\n  1) sum\n       adds:\n     AssertionError: no\n", failed: "sum adds"},
		"mocha, none":           {output: "\n\n  0 passing (1ms)\n\n", none: true},
		"node":                  {output: "✖ adds (1.2ms)\nℹ tests 2\nℹ fail 1\n", failed: "adds"},
		"TAP":                   {output: "TAP version 13\nok 1 - a\nnot ok 2 - b c # time=3ms\n1..2\n", failed: "b c"},
		"cargo":                 {output: "running 2 tests\ntest a::old ... FAILED\ntest a::new ... ok\n\ntest result: FAILED.\nerror: test failed, to rerun pass `--lib`\n", failed: "a::old"},
		"cargo, none":           {output: "running 0 tests\n\ntest result: ok. 0 passed\n", none: true},
		"maven":                 {output: "[ERROR] com.example.ATest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Tests run: 2, Failures: 1\n", failed: "com.example.ATest.adds"},
		"gradle":                {output: "ATest > adds() FAILED\n    java.lang.AssertionError\n2 tests completed, 1 failed\n", failed: "ATest > adds()"},
		"rspec":                 {output: "rspec ./spec/a_spec.rb:3 # Sum adds\n2 examples, 1 failure\n", failed: "./spec/a_spec.rb:3"},
		"ctest":                 {output: "50% tests passed, 1 tests failed out of 2\nThe following tests FAILED:\n\t  2 - adds (Failed)\n", failed: "adds"},
		"a script":              {output: "wrong\n"},
		"dash, no script":       {output: "sh: 0: cannot open missing.sh: No such file\n", none: true},
		"dash, no folder":       {output: "sh: 1: cd: can't cd to sub\n", none: true},
		"bash, no folder":       {output: "sh: line 1: cd: sub: No such file or directory\n", none: true},
		"python, no script":     {output: "python3: can't open file '/workspace/a.py': [Errno 2] No such file or directory\n", none: true},
		"perl, no script":       {output: "Can't open perl script \"a.pl\": No such file or directory\n", none: true},
		"node, no script":       {output: "Error: Cannot find module '/workspace/a.js'\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n", none: true},
		"node, no module":       {output: "Error: Cannot find module 'left-pad'\n  requireStack: [ '/workspace/a.js' ]\n}\n"},
		"python, no runner":     {output: "/usr/bin/python3: No module named pytest\n", none: true},
		"python, no import":     {output: "Traceback (most recent call last):\nModuleNotFoundError: No module named 'words'\n"},
		"unittest, no folder":   {output: "Traceback (most recent call last):\n  File \"/usr/lib/python3.11/unittest/main.py\", line 101, in __init__\nImportError: Start directory is not importable: 'tests'\n", none: true},
		"make, no target":       {output: "make: *** No rule to make target 'check'.  Stop.\n", none: true},
		"make, no makefile":     {output: "make: *** No targets specified and no makefile found.  Stop.\n", none: true},
		"make, no source":       {output: "make: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.\n"},
		"npm, no script":        {output: "npm error Missing script: \"test\"\nnpm error\nnpm error To see a list of scripts, run:\n", none: true},
		"npm, no package":       {output: "npm error code ENOENT\nnpm error enoent Could not read package.json: Error: ENOENT\n", none: true},
		"cargo, no package":     {output: "error: could not find `Cargo.toml` in `/workspace` or any parent directory\n", none: true},
		"go, no module":         {output: "go: go.mod file not found in current directory or any parent directory; see 'go help modules'\n", none: true},
		"no script, later":      {output: "checking a\nsh: 0: cannot open missing.sh: No such file\n"},
		"two runners":           {output: "?   \texample.com/b\t[no test files]\n3 passed in 0.02s\n"},
	} {
		got := environment.ReadTests(c.output)
		if strings.Join(got.Failed, "|") != c.failed || got.Unnamed != c.unnamed || got.None != c.none {
			t.Errorf("%s: %+v, want %q, unnamed %v, none %v", name, got, c.failed, c.unnamed, c.none)
		}
	}
}
