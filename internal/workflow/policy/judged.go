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
// A file counts if a line names it, or a link to it, and it existed before; if it is below a folder that a line gives to a program
// which may start what is in there; or if a program of a line reads it without being told to (see Judging). Data that a line only
// looks at doesn't count. A new file that a line only names doesn't count, because no test relied on it before, unless the line starts it.
// See starts for the files beside a script.
func Judged(tests, setUp []string, files []FileChange) (reasons []string) {
	r, blindTests := read(slices.Concat(tests, setUp)), read(tests).blind // an installer that is piped into a shell starts none of the sources
	implied := slices.Concat(ReadBy(words(tests)), ReadBy(words(setUp)))
	// A script may start any runner, and so may a program that takes its commands from a file: then all patterns count.
	if r.blind || slices.ContainsFunc(words(tests), startsUnseen) {
		for _, row := range Judging {
			implied = append(implied, row.Files...)
		}
	}
	runsGo := slices.ContainsFunc(words(tests), func(word string) bool { return path.Base(word) == "go" })
	for _, f := range files {
		isNew := f.OldMode == ModeNone
		judges := func(file string) bool {
			return slices.ContainsFunc(implied, func(pattern string) bool { return covers(pattern, file) }) || r.runs(file) || r.starts(file, isNew) || !isNew && r.reads(file) ||
				!isNew && r.blind && (f.OldMode == modeExecutable || f.NewMode == modeExecutable || slices.Contains(scripts, path.Ext(file))) ||
				!isNew && blindTests && !slices.Contains(data, strings.ToLower(path.Ext(file)))
		}
		// A new go.mod below the root excludes its folder, with the tests in it, from "go test ./...".
		if runsGo && isNew && strings.HasSuffix(f.Path, "/go.mod") || isNew && replacesPython(f.Path) || r.garbled && !isNew || judges(f.Path) || slices.ContainsFunc(f.LinkedAs, judges) {
			reasons = append(reasons, "it changes "+f.name()+", which decides what the tests say")
		}
	}
	return reasons
}

// runs reports whether a program may start the file, new or not, because it is below a folder that a line gives to it, or because the
// line leaves out the end of its name and may mean another file so far.
func (r *reading) runs(file string) bool {
	for i := range file {
		if file[i] == '/' && slices.ContainsFunc(r.given, func(word string) bool { return names(word, file[:i]) }) {
			return true
		}
	}
	return path.Ext(file) == "" && slices.ContainsFunc(r.given, func(word string) bool { return names(word, file) })
}

// reads reports whether a line names the file. A program may add the end of a script's name by itself, and Python writes paths with dots.
func (r *reading) reads(file string) bool {
	among := r.named
	if slices.Contains(data, strings.ToLower(path.Ext(file))) {
		among = r.followed
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	return slices.ContainsFunc(among, func(word string) bool { return names(word, file) }) ||
		slices.Contains(scripts, path.Ext(file)) && slices.ContainsFunc(r.given, func(word string) bool { return names(word, stem) }) ||
		slices.Contains(scripts, path.Ext(file)) && slices.ContainsFunc(r.named, func(word string) bool {
			return strings.Contains(word, "/") && names(word, stem) || path.Ext(file) == ".py" && strings.Contains(word, ".") && names(strings.ReplaceAll(word, ".", "/"), stem)
		})
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

// names reports whether a word of a line, which may be a pattern, means the file. Lines start in the project's folder and may change
// to one below it, so the end of the path is enough. A line may also spell the path from the root: /workspace/check.sh, or
// $PWD/check.sh, of which words leaves PWD/check.sh.
func names(word, file string) bool {
	if rooted, ok := strings.CutPrefix(word, "PWD/"); ok || path.IsAbs(word) {
		parts := strings.Split(strings.TrimPrefix(path.Clean("/"+rooted), "/"), "/")
		word = strings.Join(parts[max(0, len(parts)-1-strings.Count(file, "/")):], "/")
	}
	word = strings.TrimPrefix(path.Clean("/"+word), "/") // the dot of a hidden folder stays
	if file == word || strings.HasSuffix(file, "/"+word) && word != "" {
		return true
	}
	if word = bracketed().ReplaceAllString(word, "?"); strings.Trim(word, "*?/.") == "" { // a bare * would make every change suspicious
		return false
	}
	for first, rest, ok := strings.Cut(word, "/"); ok && strings.Trim(first, "*?") == ""; first, rest, ok = strings.Cut(word, "/") {
		word = rest // any folder, or the project's own
	}
	return covers(word, file)
}

// bracketed matches a choice of characters in a shell's pattern.
var bracketed = lazy.Pattern(`\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]`)

// covers reports whether a pattern means the file, in any folder. A pattern is the name of a file, the path of one or, with a slash
// at its end, a folder with everything below it. One that begins with a slash holds in the project's own folder alone.
func covers(pattern, file string) bool {
	if rooted, ok := strings.CutPrefix(pattern, "/"); ok {
		matches, err := path.Match(rooted, file)
		return matches && err == nil
	}
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
		// python -m pytest runs a pytest.py of the project's folder before the real one, and the __init__.py of each package above.
		if module, ok := strings.CutPrefix(word, "-m"); i > 0 && (words[i-1] == "-m" || ok && strings.HasPrefix(path.Base(words[i-1]), "python")) {
			parts := strings.FieldsFunc(module, func(r rune) bool { return r == '.' })
			for n := 1; n < len(parts); n++ {
				patterns = append(patterns, strings.Join(parts[:n], "/")+"/__init__.py")
			}
			if at := strings.Join(parts, "/"); at != "" {
				patterns = append(patterns, at+".py", at+"/")
			}
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
