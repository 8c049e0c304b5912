package perform

import (
	"path"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// sourceFile is a source file's name in a text, and what its language is called by its extension.
var (
	sourceFile  = lazy.Pattern(`[\w-]\.(?:go|py|js|jsx|ts|tsx|java|kt)\b`)
	extensionOf = map[string]string{".go": "go", ".py": "python", ".js": "javascript", ".jsx": "javascript", ".ts": "javascript", ".tsx": "javascript",
		".java": "java", ".kt": "java"}
)

// taskLanguage is the language that a request says it is about, or the one of most source files that it names; empty if
// it names none, or as many of two.
func taskLanguage(r forge.Request) string {
	if r.Language != "" {
		return r.Language
	}
	named := map[string]int{}
	for _, name := range sourceFile().FindAllString(r.Title+"\n"+r.Body, -1) {
		named[extensionOf[path.Ext(name)]]++
	}
	best, most, tied := "", 0, false
	for language, n := range named {
		switch {
		case n > most:
			best, most, tied = language, n, false
		case n == most:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}
