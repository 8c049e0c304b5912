package sessions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/registry"
)

func planOf(needs map[int][]int) *Plan {
	p := &Plan{Requests: map[int]forge.Request{}, needs: needs}
	for n := range needs {
		p.Requests[n] = forge.Request{Number: n, Path: "requests/x.md"}
	}
	return p
}

func TestAPlanOrdersRequestsAfterWhatTheyNeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		needs map[int][]int
		order []int
		waves [][]int
		err   string
	}{
		{"none", map[int][]int{}, nil, [][]int{}, ""},
		{"independent requests go by number", map[int][]int{3: nil, 1: nil, 2: nil}, []int{1, 2, 3}, [][]int{{1, 2, 3}}, ""},
		{"a chain", map[int][]int{1: {2}, 2: {3}, 3: nil}, []int{3, 2, 1}, [][]int{{3}, {2}, {1}}, ""},
		{"a diamond", map[int][]int{4: {2, 3}, 2: {1}, 3: {1}, 1: nil}, []int{1, 2, 3, 4}, [][]int{{1}, {2, 3}, {4}}, ""},
		{"itself", map[int][]int{1: {1}}, nil, nil, "request 1 depends on itself"},
		{"a circle beside an order", map[int][]int{1: nil, 2: {3}, 3: {4}, 4: {2}}, nil, nil, "in a circle: #2 #3 #4 #2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := planOf(c.needs)
			err := p.sort()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("sort returned %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !slices.Equal(p.Order, c.order) || !slices.EqualFunc(p.Waves(), c.waves, slices.Equal[[]int]) {
				t.Fatalf("order %v, waves %v, error %v", p.Order, p.Waves(), err)
			}
		})
	}
}

func TestARequestWaitsForWhatItNeedsAndStopsAtAnError(t *testing.T) {
	t.Parallel()
	results := func(words ...registry.IssueStatusWord) map[int]Result {
		all := map[int]Result{}
		for i, word := range words {
			all[i+1] = Result{Issue: i + 1, Status: word}
		}
		return all
	}
	for _, c := range []struct {
		name    string
		results map[int]Result
		failed  int
		goOn    bool
		wait    bool
		why     string
	}{
		{"nothing has ended", results(), 0, false, true, ""},
		{"one of two has ended", results(registry.IssueComplete), 0, false, true, ""},
		{"both are complete", results(registry.IssueComplete, registry.IssueComplete), 0, false, false, ""},
		{"one failed", results(registry.IssueComplete, registry.IssueError), 2, true, false, "it depends on #2, which is not complete"},
		{"another request failed", results(registry.IssueComplete), 7, false, false, "#7 is an error"},
		{"another request failed, but the batch goes on", results(registry.IssueComplete, registry.IssueComplete), 7, true, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &Batch{Plan: planOf(map[int][]int{3: {1, 2}}), GoOn: c.goOn, results: c.results, failed: c.failed}
			if wait, why := b.hindrance(3); wait != c.wait || why != c.why {
				t.Fatalf("wait %v, %q", wait, why)
			}
		})
	}
}

func TestAScriptNeedsItsInterpreter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"#!/bin/sh\n":                   "",
		"#! /bin/sh -e\n":               "",
		"#!\n":                          "",
		"no first line of a script":     "",
		"#!/no/such/interpreter -x\n":   "its first line names /no/such/interpreter, which is not there",
		"#!/no/such/windows/python\r\n": "its first line names /no/such/windows/python, which is not there",
	} {
		path := filepath.Join(t.TempDir(), "agent")
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := interpreted(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
