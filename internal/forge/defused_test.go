package forge_test

import (
	"regexp"
	"strings"
	"testing"

	"signalbox/internal/forge"
)

func TestNothingInAnUntrustedTextActsOnTheForge(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"@octocat", "see (@octocat)", "\\@octocat", "&#64;octocat", "&#x40;octocat", "&commat;octocat", "@&#111;ctocat", "@org/team", "x\u200b@octocat", "@\u200boctocat",
		"fixes #12", "Fixes: #12", "CLOSES octo/repo#12", "resolve https://github.com/octo/repo/issues/12", "implements GH-12", "closing !3", "reopens &#35;12", "fix\u200bes #12",
		"octo/repo#12", "!7", "/close", "> /approve", "  /label ~bug", "a\n/merge\n", "before <!-- hidden",
	} {
		got := forge.Defused(hostile)
		for _, acts := range []string{`(^|[^\w\x{2060}])@[\w.]`, `(?i)\b(clos|fix|resolv|implement|reopen)(e|es|ed|s|ing)?:?\s+\S*(#|!|GH-|://)`, `[#!]\d`, `&#x?\d`, `(?i)&commat;[^\x{2060}]`,
			`(?m)^[\s>]*/\w+(\s|$)`, `<!--`} {
			if regexp.MustCompile(acts).MatchString(got) {
				t.Errorf("%q becomes %q, in which %s acts", hostile, got, acts)
			}
		}
		if again := strings.ReplaceAll(got, "\u2060", ""); !strings.Contains(again, "octo") && strings.Contains(hostile, "octo") {
			t.Errorf("%q becomes %q, which is another text", hostile, got)
		}
	}
}

func TestHarmlessTextStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a person <a@example.org>", "run `signalbox approve 42`", "/usr/bin/sh: not found", "1/2 done", "It fixes the bug.", "日本語 # ok", "---\n* a\n", "a && b", "$(id) %x"} {
		if got := forge.Defused(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func FuzzDefusedIsFinalAndReadable(f *testing.F) {
	f.Add("fixes #1 @a &#64;b\n/close\n<!-- x")
	f.Fuzz(func(t *testing.T, text string) {
		got := forge.Defused(text)
		if regexp.MustCompile(`(^|[^\w])@[\w.&]|[#!][\dxX&]|<!--`).MatchString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
