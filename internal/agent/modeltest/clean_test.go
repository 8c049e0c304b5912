package modeltest_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// place is where an agent is run, and what it talks to.
type place struct{ home, work, url string }

// cleaner takes out of an agent's output what differs from run to run. The
// same id becomes the same new one everywhere.
type cleaner struct {
	paths *strings.Replacer
	ids   map[string]string
}

func newCleaner(p place, library string) *cleaner {
	var pairs []string
	for from, to := range map[string]string{p.work: "/work", p.home: "/home/agent", library: "/agents"} {
		// Some print a path without its first slash, some make a name of it.
		pairs = append(pairs, from[1:], to[1:], strings.ReplaceAll(from, "/", "-"), strings.ReplaceAll(to, "/", "-"))
	}
	if address, err := url.Parse(p.url); err == nil {
		pairs = append(pairs, address.Host, "127.0.0.1:8080")
	}
	return &cleaner{paths: strings.NewReplacer(pairs...), ids: map[string]string{}}
}

var (
	randomID = regexp.MustCompile(`\b(ses_|prt_|msg_)[0-9a-zA-Z]{20,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moments  = []struct {
		pattern *regexp.Regexp
		with    string
	}{
		{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-01-01T00:00:00.000Z"},
		{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z`), "2026-01-01T00-00-00-000Z"},
		{regexp.MustCompile(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d GMT`), "Thu, 01 Jan 2026 00:00:00 GMT"},
		{regexp.MustCompile(`again at \d+:\d\d [AP]M`), "again at 3:00 AM"}, // of Codex; of which day it does not say
		{regexp.MustCompile(`1[78]\d{11}`), "1767225600000"},                // Unix milliseconds
		{regexp.MustCompile(`("[a-z_]*_ms"):\d+(\.\d+)?`), "$1:1"},
		{regexp.MustCompile(`(?m)after [0-9.]+ ?ms`), "after 1ms"},
		{regexp.MustCompile(`cc-socks/\d+`), "cc-socks/1"}, // of Claude Code, by its process id
		{regexp.MustCompile(`(?m)^    at .*\n`), ""},       // of a stack
	}
)

func (c *cleaner) clean(s string) string {
	s = randomID.ReplaceAllStringFunc(c.paths.Replace(s), c.renamed)
	for _, m := range moments {
		s = m.pattern.ReplaceAllString(s, m.with)
	}
	return s
}

func (c *cleaner) renamed(id string) string {
	if _, known := c.ids[id]; !known {
		prefix, _, found := strings.Cut(id, "_")
		c.ids[id] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(c.ids)+1)
		if found {
			c.ids[id] = fmt.Sprintf("%s_%024d", prefix, len(c.ids))
		}
	}
	return c.ids[id]
}

func TestDetailsThatDifferFromRunToRunAreRemoved(t *testing.T) {
	t.Parallel()
	c := newCleaner(place{home: "/tmp/x/001", work: "/tmp/x/002", url: "http://127.0.0.1:4711"}, "/opt/a/node_modules")
	for _, test := range []struct{ name, text, want string }{
		{"paths", `"/tmp/x/002/hello.txt" tmp/x/002/a -tmp-x-002 /tmp/x/001 /opt/a/node_modules/y`, `"/work/hello.txt" work/a -work /home/agent /agents/y`},
		{"address", "http://127.0.0.1:4711/v1", "http://127.0.0.1:8080/v1"},
		{"the same id twice", "ses_e045776cdffeAFfPeBMz0PO9H3 ses_e045776cdffeAFfPeBMz0PO9H3", "ses_000000000000000000000001 ses_000000000000000000000001"},
		{"another id", "a14be2c3-8fa8-4a8f-a0ab-113c0a856fe7", "00000000-0000-4000-8000-000000000002"},
		{"ids of the model", "msg_17 call_3", "msg_17 call_3"},
		{"moments", "2026-11-21T01:11:16.936Z 1795223495313 Sat, 21 Nov 2026 01:12:42 GMT", "2026-01-01T00:00:00.000Z 1767225600000 Thu, 01 Jan 2026 00:00:00 GMT"},
		{"a time of day", "try again at 4:38 AM.", "try again at 3:00 AM."},
		{"durations", `"ttft_ms":145,"tokens":145 after 5957ms`, `"ttft_ms":1,"tokens":145 after 1ms`},
		{"process ids", "cc-socks/4711.sock", "cc-socks/1.sock"},
		{"stacks", "Error: x\n    at f (file:///a.js:1:2)\nnext", "Error: x\nnext"},
	} {
		if got := c.clean(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
