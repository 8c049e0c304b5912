package workflow

import (
	"path"
	"slices"
	"strings"
)

// judgedBy are reasons to look at a repair that changes what says whether it is one: an agent that writes "exit 0" into the
// check's script repairs nothing. A file counts if a line that judges the repair names it and it was there before. Data does
// not: it is as a rule what was wrong.
func (s *Settings) judgedBy(files []FileChange) (reasons []string) {
	if s.Check == nil {
		return nil
	}
	var named []string
	for _, line := range s.TestCommands() {
		named = append(named, strings.FieldsFunc(line, endsWord)...)
	}
	for _, f := range files {
		if f.OldMode != "000000" && !isData(f.Path) && slices.ContainsFunc(named, func(word string) bool { return names(word, f.Path) }) {
			reasons = append(reasons, "it changes "+printable(f.Path)+", by which the repair is judged")
		}
	}
	return reasons
}

func endsWord(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>\"'`$={}", r) }

// names reports whether a word of a line means the file, from the project's folder or one below, where lines may go.
func names(word, file string) bool {
	word = strings.TrimLeft(path.Clean(word), "./")
	return word != "" && (file == word || strings.HasSuffix(file, "/"+word))
}

func isData(file string) bool {
	return slices.Contains([]string{".txt", ".md", ".json", ".csv", ".tsv", ".xml", ".html", ".log"}, strings.ToLower(path.Ext(file)))
}
