package hosted

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNothingInAnUntrustedTextActsOnTheForge(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"@octocat", "see (@octocat)", "\\@octocat", "&#64;octocat", "&#x40;octocat", "&commat;octocat", "@&#111;ctocat", "@org/team", "x\u200b@octocat", "@\u200boctocat",
		"fixes #12", "Fixes: #12", "CLOSES octo/repo#12", "resolve https://github.com/octo/repo/issues/12", "implements GH-12", "closing !3", "reopens &#35;12", "fix\u200bes #12",
		"octo/repo#12", "!7", "/close", "> /approve", "  /label ~bug", "a\n/merge\n", "before <!-- hidden",
	} {
		got := defused(hostile)
		for _, acts := range []string{`(^|[^\w\x{2060}])@[\w.]`, `(?i)\b(clos|fix|resolv|implement|reopen)(e|es|ed|s|ing)?:?\s+\S*(#|!|GH-|://)`, `[#!]\d`, `&#x?\d`, `(?i)&commat;[^\x{2060}]`,
			`(?m)^[\s>]*/\w+(\s|$)`, `<!--`} {
			if regexp.MustCompile(acts).MatchString(got) {
				t.Errorf("%q becomes %q, in which %s acts", hostile, got, acts)
			}
		}
		if again := strings.ReplaceAll(got, joiner, ""); !strings.Contains(again, "octo") && strings.Contains(hostile, "octo") {
			t.Errorf("%q becomes %q, which is another text", hostile, got)
		}
	}
}

func TestHarmlessTextStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a person <a@example.org>", "run `signalbox approve 42`", "/usr/bin/sh: not found", "1/2 done", "It fixes the bug.", "日本語 # ok", "---\n* a\n", "a && b", "$(id) %x"} {
		if got := defused(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestAMarkerIsOneCommentWhateverTheKey(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, key := range []string{"a", "A", "a/b", "--", "-", "---", "-->", "a b", "a+b", "a%20b", "日本語", "\n", strings.Repeat("x", 300), strings.Repeat("x", 301), "<!-- signalbox:run=a -->"} {
		m := mark("run", key)
		inside := strings.TrimSuffix(strings.TrimPrefix(m, "<!-- "), " -->")
		if strings.Contains(inside, "--") || strings.ContainsAny(inside, "<> \n") || len(m) > 2*maxKey {
			t.Errorf("key %q gives %q", key, m)
		}
		if other, twice := seen[m]; twice {
			t.Errorf("keys %q and %q give the same marker", key, other)
		}
		seen[m] = key
		for _, text := range []string{"", "text", "\n---\n", "<!-- signalbox:run=b -->\nx"} {
			if sent := marked(m, text); !strings.HasPrefix(sent, m) || unmarked(sent) != defused(text) {
				t.Errorf("text %q is sent as %q and read as %q", text, sent, unmarked(sent))
			}
		}
	}
	if sent := marked(mark("run", "a"), strings.Repeat("ä", maxBody)); len(sent) > maxBody+100 || !utf8.ValidString(sent) {
		t.Errorf("a long text is sent as %d bytes", len(sent))
	}
	if page := "<!-- a person's comment -->\ntext"; unmarked(page) != page {
		t.Errorf("another comment is cut: %q", unmarked(page))
	}
}

func FuzzDefusedIsFinalAndReadable(f *testing.F) {
	f.Add("fixes #1 @a &#64;b\n/close\n<!-- x")
	f.Fuzz(func(t *testing.T, text string) {
		got := defused(text)
		if regexp.MustCompile(`(^|[^\w])@[\w.&]|[#!][\dxX&]|<!--`).MatchString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
