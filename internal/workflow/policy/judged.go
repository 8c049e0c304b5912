package policy

import (
	"path"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// Judged returns the reasons to look at a change of what judges it, one for each file. If an agent writes "exit 0" into the script
// that the tests start, passing tests prove nothing. tests and setUp are the command lines, as a shell runs them.
//
// A file counts if a line names it, or a link to it, and it existed before; or if a program of a line reads it without being told
// to (see Judging). Data that a line only looks at doesn't count. A new file counts only by the second rule, because no test relied
// on it before.
func Judged(tests, setUp []string, files []FileChange) (reasons []string) {
	lines := slices.Concat(tests, setUp)
	named, implied := words(lines), slices.Concat(ReadBy(words(tests)), ReadBy(words(setUp)))
	var followed []string
	for _, line := range lines {
		followed = append(followed, obeyed(line)...)
		if of := words([]string{line}); slices.Contains(of, "run-parts") { // it starts every file in a folder
			for _, word := range of {
				implied = append(implied, strings.Trim(word, "./")+"/")
			}
		}
	}
	// A script may start any runner, and so may a program that takes its commands from a file: then all patterns count.
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
		// A new go.mod below the root excludes its folder, with the tests in it, from "go test ./...".
		if runsGo && isNew && strings.HasSuffix(f.Path, "/go.mod") ||
			judges(f.Path, isNew) || slices.ContainsFunc(f.LinkedAs, func(link string) bool { return judges(link, isNew) }) {
			reasons = append(reasons, "it changes "+f.name()+", which decides what the tests say")
		}
	}
	return reasons
}

// words returns the words of command lines, cut at what a shell treats as syntax. Quotes group nothing: a line within a line,
// as of sh -c, has words too.
func words(lines []string) (all []string) {
	ends := func(r rune) bool { return strings.ContainsRune(" \t\r\n;:&|()<>\"'`$={},", r) }
	for _, line := range lines {
		all = append(all, strings.FieldsFunc(line, ends)...)
	}
	return all
}

// lookers are programs that print or compare files and never act on their content. scripted are those of them that can read a
// script or patterns from a file, with -f.
var (
	lookers = []string{"[", "[[", "test", "true", "false", "cat", "head", "tail", "wc", "diff", "cmp", "comm", "ls", "stat", "cut", "sort", "uniq", "nl", "od", "xxd",
		"file", "sha256sum", "sha1sum", "md5sum", "cksum", "xmllint", "tr", "echo", "printf", "exit", "grep", "egrep", "fgrep", "rg", "sed", "awk", "jq", "yq"}
	scripted = lookers[slices.Index(lookers, "grep"):]
)

// quoted matches a quoted word in which a shell replaces nothing; discards a redirection that writes no file.
var (
	quoted   = lazy.Pattern(`'[^']*'|"[^"$\x60]*"`)
	discards = lazy.Pattern(`\d?>+\s*(?:/dev/null|&\d)`)
)

// obeyed returns the words of a line, except those that its programs only look at. If a part of the line writes a file, its words
// count, because another line may start the result. In doubt, a program does more than look.
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

// names reports whether a word of a line, which may be a pattern, means the file. Lines start in the project's folder and may change
// to one below it, so the end of the path is enough. A line may also spell the path from the root: /workspace/check.sh, or
// $PWD/check.sh, of which words leaves PWD/check.sh.
func names(word, file string) bool {
	if rooted, ok := strings.CutPrefix(word, "PWD/"); ok || path.IsAbs(word) {
		word = "/" + strings.TrimPrefix(rooted, "/")
		if strings.HasSuffix(path.Clean(word), "/"+file) {
			return true
		}
	}
	word = strings.TrimPrefix(path.Clean("/"+word), "/") // the dot of a hidden folder stays
	if strings.Trim(word, "*?[]/.") == "" {              // a bare * would make every change suspicious
		return false
	}
	return covers(word, file) || file == word || strings.HasSuffix(file, "/"+word)
}

// covers reports whether a pattern means the file, in any folder. A pattern is the name of a file, the path of one or, with a slash
// at its end, a folder with everything below it.
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

// ReadBy returns the patterns of the files that programs among the words read without being told to; see Judging. Duplicates stay.
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

// startsUnseen reports whether a word is a program that may start others which no line names: a Starter or a script.
func startsUnseen(word string) bool {
	base := path.Base(word)
	return slices.Contains(Starters, base) || strings.HasSuffix(base, ".sh") ||
		strings.HasPrefix(word, "./") && !strings.HasSuffix(word, "/") && base != "..." && base != "."
}
