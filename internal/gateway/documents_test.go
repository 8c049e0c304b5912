package gateway

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// split is what a splitter makes of a text that comes in pieces of a size.
func split(isEvents bool, text string, size int) (found []string) {
	d := document{each: func(data []byte, size int) {
		if data == nil {
			found = append(found, fmt.Sprint(size, " bytes"))
			return
		}
		found = append(found, string(data))
	}}
	var s splitter = &objects{document: d}
	if isEvents {
		s = &events{document: d}
	}
	for rest := []byte(text); len(rest) > 0; {
		n := min(size, len(rest))
		s.write(rest[:n])
		rest = rest[n:]
	}
	s.finish()
	return found
}

func TestAnswersAreCutIntoTheirDocumentsHoweverTheyCome(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", maxDocument)
	for _, test := range []struct {
		name   string
		events bool
		text   string
		want   []string
	}{
		{"events", true, "event: a\ndata: {\"a\":1}\n\ndata:{\"b\":2}\r\n\r\n: ping\n\ndata: [DONE]\n\n", []string{`{"a":1}`, `{"b":2}`, `[DONE]`}},
		{"an event of two lines", true, "data: {\"a\":\ndata: 1}\n\n", []string{`{"a":1}`}},
		{"an error that is no event", true, "data: 1\n\n{\n  \"error\": 1\n}", []string{"1", `{  "error": 1}`}},
		{"an event too large", true, "data: " + large + "y\n\ndata: 2\n\n", []string{fmt.Sprint(maxDocument+1, " bytes"), "2"}},
		{"an object", false, ` {"a":{"b":"}\""}}` + "\n", []string{`{"a":{"b":"}\""}}`}},
		{"an array of objects", false, `[{"a":[1,{}]},` + "\n" + `{"b":"]"}]`, []string{`{"a":[1,{}]}`, `{"b":"]"}`}},
		{"half an object", false, `{"a":`, []string{"5 bytes"}},
		{"an object too large", false, `[{"a":"` + large + `"},{}]`, []string{fmt.Sprint(maxDocument+8, " bytes"), "{}"}},
		{"nothing", false, "", nil},
	} {
		sizes := []int{1, 2, 3, 7, 100, 1 << 30}
		if len(test.text) > maxDocument {
			sizes = []int{4093, 1 << 30}
		}
		for _, size := range sizes {
			if got := split(test.events, test.text, size); fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%s, %d at a time: %.200q, want %.200q", test.name, size, got, test.want)
			}
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("sk-sk-key and sk-ke", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		const key = "sk-key"
		s := scrubber{key: []byte(key)}
		var got []byte
		for rest := []byte(text); len(rest) > 0; {
			n := min(max(size, 1), len(rest))
			got = append(got, s.pass(rest[:n])...)
			rest = rest[n:]
		}
		got = append(got, s.held...)
		if want := strings.ReplaceAll(text, key, string(masked)); string(got) != want || bytes.Contains(got, []byte(key)) && !strings.Contains(want, key) {
			t.Errorf("%q in pieces of %d became %q, want %q", text, size, got, want)
		}
	})
}

func TestMoments(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for text, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0.5": time.Second / 2, "6m0s": 6 * time.Minute, "120ms": 120 * time.Millisecond,
		"1800000060": time.Minute, now.Add(time.Hour).UTC().Format(time.RFC3339): time.Hour, "1e400": 0, "-5": 0, "NaN": 0, "9999999999999999": 0,
	} {
		got := moment(text, now)
		if got.IsZero() {
			got = now
		}
		if got.Sub(now) != want {
			t.Errorf("moment(%q) is in %s, want %s", text, got.Sub(now), want)
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	table := map[string]Price{"sonnet": {Input: 3, Output: 15, Cached: 0.3, Written: 3.75}, "mini": {Input: 0.0375}}
	for name, want := range map[string]bool{"sonnet": true, "sonnet-20260901": true, "mini-2026-09-01": true, "mini@20260901": true, "sonnet-mini": false, "": false} {
		if _, ok := price(table, "unknown", name); ok != want {
			t.Errorf("price(%q) = %t", name, ok)
		}
	}
	for _, test := range []struct {
		price Price
		of    tokens
		want  int64
	}{
		{table["sonnet"], tokens{input: 1_000_000, read: 200_000, written: 100_000, output: 10}, 700_000*3 + 60_000 + 375_000 + 150},
		{table["mini"], tokens{input: 1}, 1}, // rounded up
		{table["mini"], tokens{}, 0},
		{Price{Input: 10_000, Output: 10_000}, tokens{input: 1 << 62, output: 1 << 62}.bounded(), 2e12},
		{table["sonnet"], tokens{input: -5, read: 7, output: -1}.bounded(), 0},
	} {
		if got := test.price.cost(test.of); got != test.want {
			t.Errorf("cost(%+v) = %d, want %d", test.of, got, test.want)
		}
	}
}

func TestVersionsOfUpstreamStandForThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com": "https://api.openai.com/v1/x?alt=sse", "https://api.openai.com/v1/": "https://api.openai.com/v1/x?alt=sse",
		"https://h/api/paas/v4": "https://h/api/paas/v4/x?alt=sse", "https://h/very": "https://h/very/v1/x?alt=sse",
	} {
		u, err := parseUpstream(base, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := at(u, "/v1/x", "alt=sse").String(); got != want {
			t.Errorf("below %s: %s", base, got)
		}
	}
}
