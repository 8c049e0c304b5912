package environment

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"signalbox/internal/lazy"
)

// Tests is what the output of a test command says about the tests. The exit code, not this, decides
// whether they passed: the names serve to compare failures before and after a change.
type Tests struct {
	// Failed are the names of the failing tests, each once, in the order of the output. They are as
	// untrusted as the output.
	Failed []string
	// Unnamed: something without a test's name failed, such as a package that does not compile. Then
	// Failed is no complete list.
	Unnamed bool
	// None: the runner says that it ran no test at all. Success then proves nothing.
	None bool
}

// testWords are the patterns of one test runner's output. In failed, the groups that match are a test's
// name, joined by " in ".
type testWords struct {
	failed  []string
	unnamed []string
	// ran matches if at least one test ran, none if no test did.
	ran, none []string
}

// testRunners are tried together on each line: a project may run several in one command.
var testRunners = []testWords{
	{ // go test; names get their package, see goFailed
		unnamed: []string{`^FAIL\s+\S+ \[(build|setup) failed\]`, `^panic: `, `^# \S+( \[\S+\])?$`},
		ran:     []string{`^ok\s+\S+\s+(\(cached\)|[\d.]+s)(\s+coverage: .*)?$`, `^\s*--- (PASS|FAIL|SKIP): `},
		none:    []string{`\[no test files\]`, `\[no tests to run\]`, `matched no packages`, `^no packages to test`, `^go: (go\.mod file not found|cannot find main module)`},
	},
	{ // pytest
		failed:  []string{`^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$`},
		unnamed: []string{`^ERROR [^ :]+( - .*)?$`, `^=+ .*errors? during collection`, `^INTERNALERROR>`},
		ran:     []string{`^(=+ )?.*\b[1-9]\d* (passed|failed|skipped|xfailed|xpassed)\b.* in [\d.]+s`},
		none:    []string{`^(=+ )?no tests ran in `, `^(=+ )?no tests collected`, `^collected 0 items$`},
	},
	{ // unittest
		failed:  []string{`^(?:FAIL|ERROR): (\S+) \(([\w.]+)\)`},
		unnamed: []string{`^ERROR: .*_FailedTest`, `^ImportError: Failed to import test module`, `^ERROR: (setUpClass|setUpModule|tearDownClass|tearDownModule) `},
		ran:     []string{`^Ran [1-9]\d* tests? in `},
		none:    []string{`^Ran 0 tests in `, `^NO TESTS RAN`, `^ImportError: Start directory is not importable: `},
	},
	{ // jest, vitest
		failed:  []string{`^\s*● (.+ › .+)$`, `^\s*(?:FAIL|×)\s+(\S+(?: \[.*?\])? > .+?)(?: \d+ms)?$`},
		unnamed: []string{`● Test suite failed to run`, `^\s*FAIL\s+\S+ \[ \S+ \]$`},
		ran:     []string{`^\s*Tests:?\s+.*\d+ total`, `^\s*Tests\s+.*\(\d+\)`},
		none:    []string{`^No tests found`, `^No test files found`, `^npm (ERR!|error) (Missing script: |enoent Could not read package\.json)`},
	},
	{ // mocha; names are put together by mochaFailed
		ran:  []string{`^\s+[1-9]\d* (passing|failing|pending)`},
		none: []string{`^\s+0 passing`, `^Error: No test files found`},
	},
	{ // TAP, node --test
		failed: []string{`^\s*not ok \d+ -? ?([^#]+?)(?:\s*#.*)?$`, `^\s*✖ (.+?) \([\d.]+ms\)$`},
		ran:    []string{`^(#|ℹ) tests [1-9]`, `^\s*ok \d+`},
		none:   []string{`^(#|ℹ) tests 0$`, `^1\.\.0`, `^\s*requireStack: \[\]$`}, // the last: node has no such script
	},
	{ // cargo
		failed:  []string{`^test (\S+(?: - .*)?) \.\.\. FAILED$`},
		unnamed: []string{`^error\[E\d+\]: `, `^error: could not compile`},
		ran:     []string{`^running [1-9]\d* tests?$`},
		none:    []string{`^running 0 tests$`, "^error: could not find `Cargo\\.toml` in "},
	},
	{ // maven, gradle
		failed: []string{`^\[ERROR\]\s+([\w.$]+(?:\(.*?\))?)\s+(?:--\s+)?Time elapsed: .*<<< (?:FAILURE|ERROR)!`, `^(\S+(?: > .+)? > .+) FAILED$`},
		unnamed: []string{`^\[ERROR\] COMPILATION ERROR`, `^\[ERROR\] Failed to execute goal .*:(testCompile|compile)`,
			`^> Task :\S*[cC]ompile\S* FAILED`},
		ran:  []string{`Tests run: [1-9]`, `^\S+ > .+ (PASSED|FAILED|SKIPPED)$`},
		none: []string{`No tests to run\.`, `No tests were executed!`, `^> Task :test NO-SOURCE`},
	},
	{ // rspec, phpunit, dotnet, ctest
		failed: []string{`^rspec (\S+)(?: # .*)?$`, `^\d+\) ([\w\\]+::\S+)`, `^\s+Failed (\S+) \[`, `^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run)\)`},
		ran:    []string{`^[1-9]\d* examples?, `, `^(OK \([1-9]|Tests: [1-9])`, `^\s*(Passed|Failed)!\s+- `, `^\d+% tests passed.* out of [1-9]`},
		none:   []string{`^0 examples, 0 failures`, `^No tests executed!`, `No test is available`, `^No tests were found!!!`},
	},
}

// compiledWords are the patterns of all runners. They are compiled at first use, because most commands of
// signalbox read no test output.
var compiledWords = sync.OnceValue(func() (all struct{ failed, unnamed, ran, none []*regexp.Regexp }) {
	for _, w := range testRunners {
		for _, kind := range []struct {
			to   *[]*regexp.Regexp
			from []string
		}{{&all.failed, w.failed}, {&all.unnamed, w.unnamed}, {&all.ran, w.ran}, {&all.none, w.none}} {
			for _, text := range kind.from {
				*kind.to = append(*kind.to, regexp.MustCompile(text))
			}
		}
	}
	return all
})

var (
	goTest    = lazy.Pattern(`^\s*--- FAIL: (\S+) \(`)
	goPackage = lazy.Pattern(`^FAIL\s+(\S+)\s+[\d.]+s$`)
	mochaName = lazy.Pattern(`^  \d+\) (.+)$`)
	mochaTold = lazy.Pattern(`^  [1-9]\d* failing`)
)

// unopened matches all that is printed if an interpreter has no such script or module, make no such target, or a shell no such folder to go to.
var unopened = lazy.Pattern(`^\S+: (?:(?:line )?\d+: )?(?:cannot open .+: No such file|can't open file .+: \[Errno 2\] .+|cd: can't cd to .+|cd: .+: No such file or directory)$` +
	`|^ruby: No such file or directory -- .+ \(LoadError\)$|^Can't open perl script .+: No such file or directory$|^Could not open input file: .+$|^\S*python[\d.]*: No module named \S+$|^g?make: \*\*\* (?:No rule to make target [^,]+|No targets specified and no makefile found)\.  Stop\.$`)

// ReadTests returns which tests failed and whether any ran, by the output of a test command without
// terminal escapes.
func ReadTests(output string) Tests {
	words, r := compiledWords(), testReader{}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		r.ran = r.ran || matches(words.ran, line)
		r.none = r.none || matches(words.none, line)
		r.found.Unnamed = r.found.Unnamed || matches(words.unnamed, line)
		if r.goFailed(line) || r.mochaFailed(line) {
			continue
		}
		for _, e := range words.failed {
			if m := e.FindStringSubmatch(line); m != nil {
				r.add(strings.Join(slices.DeleteFunc(m[1:], func(s string) bool { return s == "" }), " in "))
			}
		}
	}
	r.found.None = r.none && !r.ran && len(r.found.Failed) == 0 || unopened().MatchString(strings.TrimSpace(output))
	if len(r.pending) > 0 { // their package's line is missing
		r.found.Unnamed = true
	}
	return r.found
}

// testReader reads the output line by line.
type testReader struct {
	found     Tests
	ran, none bool
	// pending are failing Go tests whose package is not known yet.
	pending []string
	// mocha: the list of failures has started; title is the name read so far.
	mocha bool
	title string
}

// goFailed reads lines of go test: the tests of a package come before the package's own line. It reports
// whether the line is one of these.
func (r *testReader) goFailed(line string) bool {
	if m := goTest().FindStringSubmatch(line); m != nil {
		r.pending = append(r.pending, m[1])
		return true
	}
	m := goPackage().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	r.found.Unnamed = r.found.Unnamed || len(r.pending) == 0
	for _, name := range r.pending {
		r.add(m[1] + "." + name)
	}
	r.pending = nil
	return true
}

// mochaFailed reads mocha's list of failures: a number, then the names of the suites and of the test, one
// line each, the last with a colon. It reports whether the line belongs to the list.
func (r *testReader) mochaFailed(line string) bool {
	if mochaTold().MatchString(line) {
		r.mocha = true
		return true
	}
	if !r.mocha {
		return false
	}
	if m := mochaName().FindStringSubmatch(line); m != nil {
		r.title = strings.TrimSpace(m[1])
	} else if r.title != "" {
		r.title += " " + strings.TrimSpace(line)
	}
	if name, ok := strings.CutSuffix(r.title, ":"); ok {
		r.add(name)
		r.title = ""
	}
	return true
}

func (r *testReader) add(name string) {
	name = strings.TrimSpace(name)
	if name != "" && !slices.Contains(r.found.Failed, name) {
		r.found.Failed = append(r.found.Failed, name)
	}
}

func matches(words []*regexp.Regexp, line string) bool {
	return slices.ContainsFunc(words, func(e *regexp.Regexp) bool { return e.MatchString(line) })
}
