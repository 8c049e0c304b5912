package commandline

import (
	"signalbox/internal/lazy"
	"strings"
)

// ShellWord is a word for a shell.
func ShellWord(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var plainWord = lazy.Pattern(`^[A-Za-z0-9_./-]+$`)
