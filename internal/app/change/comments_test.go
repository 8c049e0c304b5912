package change_test

import (
	"strings"
	"testing"

	"signalbox/internal/app/change"
)

func TestCommentsBecomeTheTextOfARejection(t *testing.T) {
	t.Parallel()
	files, _ := parsed(patch(t, "-M"), change.Page)
	d := change.Diff{Files: files}
	comments := []change.Comment{
		{Path: "noend", Old: true, Line: 2, Text: "why \x1b[31mremove\x1b[0m it?"},
		{Path: "edited.go", Line: 6, Text: "four() belongs here too\nand its test"},
		{Path: "edited.go", Line: 4, Text: "  say why 1  "},
		{Path: "edited.go", Line: 4, Text: " "},
	}
	got, err := d.Reason("Almost.\n", comments)
	want := "Almost.\n\nedited.go:4\n> one(1)\nsay why 1\n\nedited.go:6\n> three()\nfour() belongs here too\nand its test\n\n" +
		"noend, line 2 before the change (removed)\n> y\nwhy remove it?"
	if err != nil || got != want {
		t.Errorf("it is %q (%v), and not %q", got, err, want)
	}
	for what, bad := range map[string][]change.Comment{
		"neither a text":  {{Path: "edited.go", Line: 4}},
		"no line 99":      {{Path: "edited.go", Line: 99, Text: "x"}},
		"no line 3":       {{Path: "../etc/passwd", Line: 3, Text: "x"}},
		"no line 1":       {{Path: "edited.go", Old: true, Line: 1, Text: "x"}},
		"4001 bytes":      {{Path: "edited.go", Line: 4, Text: strings.Repeat("x", 4001)}},
		"101 comments":    make([]change.Comment, 101),
		"at most 32768 a": {},
	} {
		whole := ""
		if len(bad) == 0 {
			whole = strings.Repeat("x", 33<<10)
		}
		if _, err := d.Reason(whole, bad); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
