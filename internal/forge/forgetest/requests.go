package forgetest

import (
	"strings"
	"sync"
	"testing"

	"signalbox/internal/forge"
)

func openRequest(t *testing.T, p *project) {
	var all [8]forge.Request
	var group sync.WaitGroup
	for i := range all {
		f := p.Open(t)
		group.Go(func() {
			var err error
			if all[i], err = f.OpenRequest(t.Context(), "key-1", "It is broken", "Fix it"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	one := all[0]
	for _, same := range all {
		if same.ID != one.ID || same.Number != one.Number {
			t.Errorf("opened %+v and %+v for one key", one, same)
		}
	}
	two, err := p.forge.OpenRequest(t.Context(), "key-2", "It is broken", "Fix it")
	if err != nil || two.Number == one.Number || one.Number == p.Request.Number || one.Closed {
		t.Errorf("beside %+v are %+v and %+v, %v", p.Request, one, two, err)
	}
	if requests, err := p.forge.Requests(t.Context()); err != nil || len(requests) != 3 {
		t.Errorf("requests are %+v, %v, want three", requests, err)
	}
	if err := p.forge.CloseRequest(t.Context(), one, p.baseCommit(t)); err != nil {
		t.Fatal(err)
	}
	if again, err := p.Open(t).OpenRequest(t.Context(), "key-1", "Still", "Fix it"); err != nil || again.Number != one.Number || !again.Closed {
		t.Errorf("after closing, the key gives %+v, %v", again, err)
	}
}

func openHostileRequest(t *testing.T, p *project) {
	for _, title := range []string{"---", "a: b # c", "'\"", "- x", "null", "2026-11-20", "!!int 7", "&a *a", "{}", "$(id)", "日本語", "%x"} {
		body := "---\nid: RQ-1\n---\n" + title + "\n```\n" + strings.Repeat("x", 1000)
		opened, err := p.forge.OpenRequest(t.Context(), title, title, body)
		if err != nil {
			t.Errorf("%q: %v", title, err)
			continue
		}
		found, err := p.Open(t).Request(t.Context(), opened.ID)
		if err != nil || found.Title != title || found.Body != body || found.Number != opened.Number {
			t.Errorf("%q is found as %+v, %v", title, found, err)
		}
	}
	if got, err := p.forge.OpenRequest(t.Context(), "bytes", "two\nlines\x1b[31m\xff", "body \xff"+strings.Repeat("ä", 400_000)); err != nil || strings.ContainsAny(got.Title, "\n\x1b") {
		t.Errorf("bytes give %.200q, %v", got.Title, err)
	}
	for _, missing := range [][2]string{{"", "title"}, {"key", ""}, {"key", "\u200b\n"}} {
		if _, err := p.forge.OpenRequest(t.Context(), missing[0], missing[1], "body"); err == nil {
			t.Errorf("opened with key and title %q", missing)
		}
	}
}
