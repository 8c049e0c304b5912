package mcp

import (
	"context"
	"testing"
)

func TestOnlyDocumentsHaveAddresses(t *testing.T) {
	t.Parallel()
	if ref, name, media := named("signalbox://runs/7/events.jsonl"); ref != "7" || name != "events.jsonl" || media == "" {
		t.Errorf("it names %q of %q, %q", name, ref, media)
	}
	for _, address := range []string{"", "file:///etc/passwd", "signalbox://runs/7/signals.json", "signalbox://runs/7/../stage.json", "signalbox://runs/0/stage.json", "signalbox://runs/7/stage.json\n"} {
		if ref, name, media := named(address); ref != "" || name != "" || media != "" {
			t.Errorf("%q names %q of %q", address, name, ref)
		}
	}
}

func TestADocumentCanBeFollowedAgain(t *testing.T) {
	t.Parallel()
	f := followed{by: map[string]*following{}}
	begin := func() (*following, context.Context) {
		x := &following{}
		ctx, stop := context.WithCancel(t.Context())
		x.stop, f.by["a"] = stop, x
		return x, ctx
	}
	first, ended := begin()
	f.ended("a", first)
	if len(f.by) != 0 || ended.Err() == nil {
		t.Errorf("%d are left, %v", len(f.by), ended.Err())
	}
	second, goesOn := begin()
	f.ended("a", first) // late
	if f.by["a"] != second || goesOn.Err() != nil {
		t.Errorf("the second one ended with the first: %v", goesOn.Err())
	}
	f.ended("a", second)
}
