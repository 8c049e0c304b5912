// Package testcount counts tests, skips and checks in files of several languages, by patterns: enough to notice that a change
// weakens existing tests.
package testcount

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"signalbox/internal/git"
	"signalbox/internal/lazy"
	"signalbox/internal/workflow/policy"
)

// language has the patterns for the tests of one language.
type language struct {
	// file matches the path of a test file; comment matches what is removed first.
	file, comment *regexp.Regexp
	// cases, skips and checks each match one test case, skip or check.
	cases, skips, checks *regexp.Regexp
	// text matches strings of several lines and code that is left out: a test in there doesn't run. nil if the language has none.
	text *regexp.Regexp
	// ends matches what can end the test program early or select its tests; nil if unknown.
	ends *regexp.Regexp
}

// never matches nothing.
const never = `[^\x00-\x{10FFFF}]`

// lines is the language of files that only look like tests by their paths. Each line that isn't blank counts as a check.
var lines = sync.OnceValue(func() *language {
	none := regexp.MustCompile(never)
	return &language{comment: none, cases: none, skips: none, checks: regexp.MustCompile(`(?m)^.*\S.*$`),
		file: regexp.MustCompile(`(?i)(?:^|/)(?:tests?|t|specs?|testing|unittests?|testdata|testthat|__tests__)/|^features/|\.feature$|` +
			`(?:^|[/_.-])(?:run)?(?:tests?|specs?|unittests?)(?:[_.-][^/]*)?$|(?-i:[a-z0-9](?:Tests?|Specs?)\.\w+$)`)}
})

// prose matches the names of documents, which say nothing about whether tests run.
var prose = lazy.Pattern(`(?i)\.(?:md|rst|adoc)$|(?:^|/)(?:README|LICENSE)[^/]*$`)

// languages are tried in order. The second to last knows files only by their folders; it counts lines that look like checks.
var languages = sync.OnceValue(func() []language {
	slashes := `(?m)^\s*//.*$|(?s:/\*.*?\*/)`
	hashes := `(?m)^\s*#.*$`
	var all []language
	raw := "`[^`]*`"
	for _, row := range [][7]string{
		{`_test\.go$`, `(?m)^\s*//(?:[^g \t\n].*|g[^o\n].*|go[^:\n].*|[ \t]+(?:[^+ \t\n].*)?)?$|(?s:/\*.*?\*/)`, // a build constraint isn't a comment
			`(?m)^func (?:Test|Fuzz|Example)\w*\(|\.Run\(`,
			`\.Skip(?:Now|f)?\(|(?m)^//go:build|^//[ \t]*\+build|^package[ \t]+documentation\b`, `\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require)\.\w+\(`,
			// All of TestMain, to the end of its line or to the brace that closes it: another word in it can undo m.Run.
			`(?m)^.*\bTestMain\s*\((?:.*\}\s*?$|(?s:.*?)(?:^\}|\z))|^.*(?:\b(?:os|syscall)\.Exit\b|\bExit\(|\bGoexit\b|\bsyscall\.(?:Exec|(?:Raw)?Syscall)|\bos\.Args\s*=|\bflag\.Set\(\s*"test\.).*$`, raw},
		{`(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?|conftest)\.py$|(?:^|/)tests?/(?:.*/)?__init__\.py$`, hashes, `(?m)^\s*(?:async\s+)?def test\w*\(|^\s*class\s+(?:Test\w*|\w+\(.*TestCase\b)`,
			`(?m)^\s+def __init__\(|@(?:(?:pytest\.)?mark\.|unittest\.)?(?:skip\w*|xfail|expectedFailure)|\bmark\.(?:skip\w*|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\bskipTest\(|\bSkipTest\b|collect_ignore|__test__`,
			`\bassert\b|\.assert\w+\(|\.raises\(`,
			`(?m)^.*(?:\b_exit\b|\b(?:exit|quit)\(|\braise\s+SystemExit\b|\bdef load_tests\(|^\s*del\s+Test|\bpytest_(?:sessionfinish|unconfigure|collection|runtest|pyfunc_call|ignore_collect|cmdline)).*$`, `(?s)""".*?"""|'''.*?'''`},
		{`(?:\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?|(?:^|/)(?:__tests__|tests?|spec)/.*\.[cm]?[jt]sx?|(?:^|/)tests?\.[cm]?[jt]sx?)$`, slashes,
			`(?:^|[^\w.])(?:it|test)(?:\.\w+)*\s*[(\x60]`,
			`\b(?:it|test|describe|suite|context)(?:\.\w+)*\.(?:skip\w*|todo|failing|fails|fixme|only|runIf)\b|\b(?:x(?:it|test|describe)|f(?:it|describe))\s*\(|\b\w+\.skip\(|[{,]\s*(?:skip|todo|only)\s*:`,
			`\bexpect\s*\(|\bassert\b|\.should\b`,
			`(?m)^.*\b(?:process|Deno)\b[?.\['"\x60\s]+(?:exit|exitCode|reallyExit)\b.*$`, raw},
		{`(?:Tests?|IT|Spec)\.(?:java|kt|groovy|scala)$|(?:^|/)src/test/.*\.(?:java|kt|groovy|scala)$`, slashes,
			`@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b`, `@(?:Disabled|Enabled|Ignore)|\bassum(?:e|ption)`,
			`\bassert\w*\s*\(|\bverify\s*\(|\bshould\w*`, `(?m)^.*(?:\bSystem\.exit|\.halt\(|\bexitProcess).*$`, `(?s)""".*?"""`},
		{`\.rs$`, slashes, `#\[(?:\w+::)*test\b|#\[cfg\(test\)\]\s*(?:pub\s+)?mod\b`, `#\[ignore|#!?\[cfg(?:_attr)?\((?:[^t]|t[^e]|te[^s]|tes[^t]|test[^)])`, `\b(?:debug_)?assert\w*!|#\[should_panic`, `(?m)^.*\bprocess::exit\b.*$`, `(?s)\br#+".*?"#`},
		{`\.zig$`, slashes, `(?m)^\s*test\b`, `\bSkipZigTest\b`, `\bexpect\w*\(`, `(?m)^.*\bprocess\.exit\b.*$`, ``},
		{`(?:_spec|_test|(?:^|/)test_[^/]*)\.rb$`, hashes, `(?m)^\s*(?:it|specify|scenario|example|test)\b|^\s*def test_`,
			`(?m)^\s*(?:skip|pending|xit|xspecify|xdescribe|xcontext)\b|,\s*(?:skip|pending):`, `\bexpect\b|\bassert\w*|\bmust_\w+`,
			`(?m)^.*(?:\bexit!|\bat_exit\b|\b(?:Process|Kernel)\.exit\b)|^\s*exit\b.*$`, `(?ms)^=begin\b.*?^=end\b|^__END__$.*`},
		{`(?:^|/)(?:tests?|specs?)/.*\.(?:sh|bash|bats|txtar|pl|t|php|exs|lua|c|cc|cpp|cs|swift)$|(?:^|/)tests?\.(?:sh|bash)$|[-_.](?:test|spec)\.[a-z]+$|Tests?\.(?:cs|php|swift)$`,
			`(?m)^\s*(?:#|//).*$`, `@test\b|\[(?:Fact|Theory|Test)\b|function test\w*\(|func test\w*\(|\bTEST(?:_[FP])?\(`,
			`\bskip\b|\[Ignore|markTestSkipped|XCTSkip|GTEST_SKIP`, `\b[Aa]ssert\w*|\bEXPECT_\w+|\bgrep -q|\bdiff\b|\bcmp\b|\btest -|\[ |\bstdout\b|\bexits?\b`, ``, `(?ms)^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*endif`},
		// Folders that it ignores hold no package for "go test ./..." (Go 1.25).
		{`(?:^|/)go\.mod$`, `(?m)//.*$`, never, never, never, `(?m)^[ \t]*ignore\b(?:[ \t]*\((?s:.*?)\)|.*)`, ``},
	} {
		compiled := [7]*regexp.Regexp{}
		for i, pattern := range row {
			if pattern != "" {
				compiled[i] = regexp.MustCompile(pattern)
			}
		}
		all = append(all, language{file: compiled[0], comment: compiled[1], cases: compiled[2], skips: compiled[3], checks: compiled[4], ends: compiled[5], text: compiled[6]})
	}
	return all
})

// Knows reports whether a file of this path may hold tests.
func Knows(name string) bool { return languageOf(name) != nil }

func languageOf(name string) *language {
	all := languages()
	for i := range all {
		if all[i].file.MatchString(name) {
			return &all[i]
		}
	}
	if lines().file.MatchString(name) && !prose().MatchString(name) {
		return lines()
	}
	return nil
}

// count counts outside of comments, and cases and checks outside of text, too; empty means that there are only comments.
func (l *language) count(content []byte) (n policy.TestCount, empty bool) {
	if bytes.IndexByte(content, 0) >= 0 && l == lines() {
		return policy.TestCount{Checks: 1}, false // a binary file has no lines
	}
	code := l.comment.ReplaceAll(content, nil)
	runs := code
	if l.text != nil {
		runs = l.comment.ReplaceAll(l.text.ReplaceAll(content, nil), nil) // text first: it may hold what looks like a comment
	}
	n = policy.TestCount{Cases: len(l.cases.FindAllIndex(runs, -1)), Skips: len(l.skips.FindAllIndex(code, -1)), Checks: len(l.checks.FindAllIndex(runs, -1))}
	return n, len(strings.TrimSpace(string(code))) == 0
}

// newEnds counts what can end the tests early and wasn't in the file before. Comments count too: a string that looks like the
// beginning of one would hide what follows.
func (l *language) newEnds(before, after []byte) (n int) {
	if l.ends == nil {
		return 0
	}
	known := map[string]int{}
	for _, found := range l.ends.FindAll(before, -1) {
		known[string(bytes.TrimSpace(found))]++
	}
	for _, found := range l.ends.FindAll(after, -1) {
		text := string(bytes.TrimSpace(found))
		if known[text]--; known[text] < 0 {
			n++
		}
	}
	return n
}

// IsFile reports whether the mode is that of a regular file.
func IsFile(mode string) bool { return mode == git.Regular || mode == git.Executable }

// File compares one file before and after a change. ok is false if it had no test and can't end any early. A moved file is gone from its old
// path: whether a runner looks at the new one isn't known.
func File(c git.Change, contents map[string][]byte) (f policy.TestFile, ok bool) {
	l := languageOf(c.Path)
	var old, now []byte
	if IsFile(c.OldMode) {
		old = contents[c.OldID]
	}
	if IsFile(c.NewMode) {
		now = contents[c.NewID]
	}
	inside := strings.HasSuffix(c.Path, ".rs") || strings.HasSuffix(c.Path, ".zig") // tests are beside the code that they test
	before, nothing := l.count(old)
	after, emptied := l.count(now)
	if !inside || after.Cases > 0 {
		f.Ends = l.newEnds(old, now)
	}
	if before.Cases+before.Checks == 0 && !inside && !strings.HasSuffix(c.Path, ".go") && lines().file.MatchString(c.Path) {
		l = lines() // tests of a kind that the language's patterns don't know
		before, nothing = l.count(old)
		after, emptied = l.count(now)
	}
	if nothing || before.Cases+before.Checks == 0 || inside && before.Cases == 0 {
		return f, f.Ends > 0
	}
	f.Before, f.Lines = before, l == lines()
	if !IsFile(c.NewMode) {
		f.Gone = true
		return f, true
	}
	f.After, f.Emptied = after, emptied
	return f, true
}
