package policy

import (
	"path"
	"slices"
	"strings"
)

// Judged returns the reasons to look at a change of what judges it: an agent that writes "exit 0" into the script that the tests
// start proves nothing. A file counts if a line that judges names it and it was there before, or if a program of the line
// reads it unasked (judging). Data that is only named does not: as a rule it is what the tests look at.
func Judged(tests, setUp []string, files []FileChange) (reasons []string) {
	named := words(slices.Concat(tests, setUp))
	implied := slices.Concat(ReadBy(words(tests)), ReadBy(words(setUp)))
	// A script, or a program that starts what the project wrote down elsewhere, may start any runner: then all patterns count.
	if slices.ContainsFunc(words(tests), startsUnseen) {
		for _, row := range Judging {
			implied = append(implied, row.Files...)
		}
	}
	runsGo := slices.ContainsFunc(words(tests), func(word string) bool { return path.Base(word) == "go" })
	data := []string{".txt", ".md", ".json", ".csv", ".tsv", ".xml", ".html", ".log"}
	for _, f := range files {
		maybe := f.OldMode != ModeNone && !slices.Contains(data, strings.ToLower(path.Ext(f.Path)))
		switch {
		// A new go.mod below the root takes its folder, tests included, out of "go test ./...".
		case runsGo && f.OldMode == ModeNone && strings.HasSuffix(f.Path, "/go.mod"),
			slices.ContainsFunc(implied, func(pattern string) bool { return covers(pattern, f.Path) }),
			maybe && slices.ContainsFunc(named, func(word string) bool { return names(word, f.Path) }):
			reasons = append(reasons, "it changes "+f.name()+", which decides what the tests say")
		}
	}
	return reasons
}

func words(lines []string) (all []string) {
	ends := func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>\"'`$={}", r) }
	for _, line := range lines {
		all = append(all, strings.FieldsFunc(line, ends)...)
	}
	return all
}

// names reports whether a word of a line, which may be a pattern, means the file, from the project's folder or one below,
// where lines may go. A line may spell the path from the root: /workspace/check.sh, or $PWD/check.sh, which is cut at its $.
func names(word, file string) bool {
	if rooted, ok := strings.CutPrefix(word, "PWD/"); ok || path.IsAbs(word) {
		word = "/" + strings.TrimPrefix(rooted, "/")
		if strings.HasSuffix(path.Clean(word), "/"+file) {
			return true
		}
	}
	word = strings.TrimPrefix(path.Clean("/"+word), "/") // a dot that begins a folder's own name stays
	if strings.Trim(word, "*?[]/.") == "" {              // a bare * names everything, and so nothing
		return false
	}
	return covers(word, file) || file == word || strings.HasSuffix(file, "/"+word)
}

// covers reports whether a pattern means the file, in any folder: the name of a file, or the path of one, or with a slash at
// its end all that is below a folder.
func covers(pattern, file string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/"); ok {
		return strings.HasPrefix(file, folder+"/") || strings.Contains(file, "/"+folder+"/")
	}
	parts := strings.Split(file, "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, err := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok && err == nil
}

// ReadBy are the patterns of what the programs among the words read unasked.
func ReadBy(words []string) (patterns []string) {
	for i, word := range words {
		if i > 0 && words[i-1] == "-m" { // python -m pytest runs a pytest.py of the project's folder before the real one
			patterns = append(patterns, word+".py", word+"/")
		}
		for _, row := range Judging {
			if slices.Contains(row.Programs, path.Base(word)) {
				patterns = append(patterns, row.Files...)
			}
		}
	}
	return patterns
}

func startsUnseen(word string) bool {
	base := path.Base(word)
	return slices.Contains(Starters, base) || strings.HasSuffix(base, ".sh") ||
		strings.HasPrefix(word, "./") && !strings.HasSuffix(word, "/") && base != "..." && base != "."
}
