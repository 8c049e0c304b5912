package policy

import (
	"path"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// Judged returns the reasons to look at a change of what judges it: an agent that writes "exit 0" into the script that the tests
// start proves nothing. A file counts if a line that judges names it, or a link to it, and it was there before, or if a program of the
// line reads it unasked (judging). Data that a line only looks at does not.
func Judged(tests, setUp []string, files []FileChange) (reasons []string) {
	lines := slices.Concat(tests, setUp)
	named, implied := words(lines), slices.Concat(ReadBy(words(tests)), ReadBy(words(setUp)))
	var followed []string
	for _, line := range lines {
		followed = append(followed, obeyed(line)...)
		if of := words([]string{line}); slices.Contains(of, "run-parts") { // which starts all that is in a folder
			for _, word := range of {
				implied = append(implied, strings.Trim(word, "./")+"/")
			}
		}
	}
	// A script, or a program that starts what the project wrote down elsewhere, may start any runner: then all patterns count.
	if slices.ContainsFunc(words(tests), startsUnseen) {
		for _, row := range Judging {
			implied = append(implied, row.Files...)
		}
	}
	runsGo := slices.ContainsFunc(words(tests), func(word string) bool { return path.Base(word) == "go" })
	data := []string{".txt", ".md", ".json", ".csv", ".tsv", ".xml", ".html", ".log"}
	judges := func(file string, isNew bool) bool {
		among := named
		if slices.Contains(data, strings.ToLower(path.Ext(file))) {
			among = followed
		}
		return slices.ContainsFunc(implied, func(pattern string) bool { return covers(pattern, file) }) ||
			!isNew && slices.ContainsFunc(among, func(word string) bool { return names(word, file) })
	}
	for _, f := range files {
		isNew := f.OldMode == ModeNone
		// A new go.mod below the root takes its folder, tests included, out of "go test ./...".
		if runsGo && isNew && strings.HasSuffix(f.Path, "/go.mod") ||
			judges(f.Path, isNew) || slices.ContainsFunc(f.LinkedAs, func(link string) bool { return judges(link, isNew) }) {
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

// lookers print or compare files and do nothing that these say; scripted are those of them that can read a script or patterns with -f.
var (
	lookers = []string{"[", "[[", "test", "true", "false", "cat", "head", "tail", "wc", "diff", "cmp", "comm", "ls", "stat", "cut", "sort", "uniq", "nl", "od", "xxd",
		"file", "sha256sum", "sha1sum", "md5sum", "cksum", "xmllint", "tr", "echo", "printf", "exit", "grep", "egrep", "fgrep", "rg", "sed", "awk", "jq", "yq"}
	scripted = lookers[slices.Index(lookers, "grep"):]
)

var (
	quoted   = lazy.Pattern(`'[^']*'|"[^"$\x60]*"`)
	discards = lazy.Pattern(`\d?>+\s*(?:/dev/null|&\d)`)
)

// obeyed returns the words of a line, except those that its programs only look at. What one of them writes down may be started by another line.
// In doubt, a program does more than look.
func obeyed(line string) (all []string) {
	plain := quoted().ReplaceAllStringFunc(line, func(text string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" ;&|({`>\n", r) {
				return '_'
			}
			return r
		}, strings.Trim(text, `'"`))
	})
	for part := range strings.FieldsFuncSeq(discards().ReplaceAllString(plain, ""), func(r rune) bool { return strings.ContainsRune(";&|({`\n", r) }) {
		command := slices.DeleteFunc(strings.Fields(part), func(word string) bool {
			return slices.Contains([]string{"!", "if", "then", "else", "while", "until", "do", "fi", "done", "}"}, word)
		})
		readsScript := func(word string) bool {
			return strings.HasPrefix(word, "--file") || strings.HasPrefix(word, "--from") ||
				strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "f")
		}
		switch {
		case len(command) == 0:
		case !slices.Contains(lookers, command[0]), slices.Contains(scripted, command[0]) && slices.ContainsFunc(command, readsScript):
			return words([]string{line})
		case strings.Contains(part, ">"):
			all = append(all, words([]string{part})...)
		}
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
