package perform

import (
	"strings"
	"testing"

	"signalbox/internal/forge"
)

func TestTheLanguageOfATaskComesFromItsKeyOrItsText(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                "",
		"Fix the parser.":                 "",
		"cmd/main.go panics":              "go",
		"see web/app.tsx and web/api.ts.": "javascript",
		"a.py, b.py and c.go":             "python",
		"a.py and c.go":                   "",
		"go.mod names node.json":          "",
	} {
		if got := taskLanguage(forge.Request{Title: "It", Body: body}); got != want {
			t.Errorf("%q is about %q, want %q", body, got, want)
		}
	}
	if got := taskLanguage(forge.Request{Body: "a.py", Language: "java"}); got != "java" {
		t.Errorf("what it says is %q", got)
	}
}

func TestAFileIsKnownByTheLinksThatLeadToIt(t *testing.T) {
	t.Parallel()
	links := map[string]string{"check": "tools/impl", "ci": "tools", "a/b": "check", "loop": "loop", "up/down": "up"}
	for file, want := range map[string]string{"tools/impl": "a/b check ci/impl", "tools/x": "ci/x", "main.go": "", "toolshed": ""} {
		if got := strings.Join(linkedAs(links, file), " "); got != want {
			t.Errorf("%s is also %q, want %q", file, got, want)
		}
	}
	if endless := linkedAs(links, "up/x"); len(endless) > 60 {
		t.Errorf("%d names by a link to the folder above itself", len(endless))
	}
}
