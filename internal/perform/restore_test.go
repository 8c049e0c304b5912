package perform

import (
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
