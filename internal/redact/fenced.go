package redact

import "strings"

// Fenced sets a stranger's text apart, in a Markdown fence longer than any in it, after
// taking out what a reader cannot see.
func Fenced(text string) string {
	text = Clean(text)
	fence := "````"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
