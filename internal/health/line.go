package health

import (
	"slices"
	"strings"
	"unicode"
)

// normalLine rewrites a line so that it is the same each time the same thing fails. Whether a word is a date or an id can depend on its neighbors,
// so the line is read as a whole. It returns an empty string for a line that says nothing.
//
//	12:04:33 worker[812]: dial tcp 10.0.0.7:41234: connection refused   →  worker dial tcp 10.0.0.7 connection refused
//	/home/ada/shop/web/cart.test.ts:17:3 expected 3, got 1,234          →  web/cart.test.ts expected 3 got <n>
//	2026-11-21T07:04:33Z request 8f14e45fceea167a failed after 1.5s     →  request <id> failed after
//	exit status 2                                                       →  exit status 2
func normalLine(line string) string {
	// System logs begin with "program[123]:"; the number is that of the process.
	before, after, found := strings.Cut(line, "]:")
	if i := strings.LastIndexByte(before, '['); found && i > 0 && number(before[i+1:]) && !unicode.IsSpace(rune(before[i-1])) {
		line = before[:i] + ":" + after
	}
	separates := func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()[]{}<>\"'`,;=|\u2018\u2019\u201c\u201d\u2192", r)
	}
	var words, normal []string
	for _, word := range strings.FieldsFunc(ungrouped(line), separates) {
		words = append(words, strings.Trim(word, ".:!?*-_~#"))
	}
	for i, word := range words {
		before, after = "", ""
		if i > 0 {
			before = strings.ToLower(words[i-1])
		}
		if i+1 < len(words) {
			after = strings.ToLower(words[i+1])
		}
		if word = normalWord(word, before, after); word != "" {
			normal = append(normal, word)
		}
	}
	for _, word := range normal { // a line of placeholders and drawn lines says nothing
		if strings.ContainsFunc(word, unicode.IsLetter) && !strings.HasPrefix(word, "<") {
			return strings.Join(normal, " ")
		}
	}
	return ""
}

// ungrouped removes the commas from grouped numbers such as 1,234,567: one to three digits, then exactly three after each comma.
func ungrouped(line string) string {
	parts := strings.Split(line, ",")
	var out strings.Builder
	out.WriteString(parts[0])
	for i, part := range parts[1:] {
		before, after := strings.TrimRight(parts[i], decimals), strings.TrimLeft(part, decimals)
		group := len(parts[i]) - len(before)
		ends := group >= 1 && group <= 3 && (before == "" || !inWord(before[len(before)-1]))
		begins := len(part)-len(after) == 3 && (after == "" || !inWord(after[0]))
		if !ends || !begins {
			out.WriteByte(',')
		}
		out.WriteString(part)
	}
	return out.String()
}

// inWord reports whether a byte can be part of a name.
func inWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// normalWord returns a word without what changes from one failure to the next: empty for a date, a duration or a unit, <n> for a number that only
// counts. before and after are its neighbors in lower case.
func normalWord(word, before, after string) string {
	switch {
	case word == "", isMonth(word) && (inDate(before) || inDate(after)), number(word) && (isMonth(before) || isMonth(after)):
		return ""
	case isTime(word), isDuration(word), number(word) && (isUnit(before) || slices.Contains(timeUnits, strings.ToLower(after))), word == "cached":
		return ""
	case isUnit(word) && number(before):
		return ""
	case number(word) && (slices.Contains(coded, before) && len(word) <= 5 || slices.Contains(versioned, before)):
		return word
	case number(word) && slices.Contains(numbered, before), number(word) && (len(word) > 3 || strings.Contains(word, ".")):
		return "<n>"
	}
	return normalName(withoutPlace(word))
}

// inDate reports whether a word next to the name of a month or a weekday makes it a date.
func inDate(word string) bool { return number(word) || isTime(word) || isMonth(word) }

var (
	// numbered are words followed by a number that changes each time: it becomes <n>.
	numbered = []string{"goroutine", "pid", "port", "thread", "process", "worker", "line", "fd", "uid", "in", "after", "took", "attempt", "seed"}
	// coded are words followed by a number that identifies the error. versioned are words followed by a number that says which version was required.
	// Both numbers stay.
	coded     = []string{"error", "err", "errno", "code", "status", "exit", "warning", "sqlstate"}
	versioned = []string{"python", "node", "go", "java", "ruby", "php", "version", "requires", "glibc", "gcc", "rust", "npm"}
)

// isCode reports whether a word looks like a catalogue's name for an error: CVE-2024-1234, ORA-00942, TS2304.
func isCode(word string) bool {
	rest := strings.TrimLeft(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if letters := len(word) - len(rest); letters < 2 || letters > 6 {
		return false
	}
	number, dashed := strings.CutPrefix(rest, "-")
	year, serial, two := strings.Cut(number, "-")
	if two {
		return dashed && isDigits(year, 4, 4) && isDigits(serial, 4, 6)
	}
	return isDigits(number, 3, 5)
}

// isDigits reports whether s consists of least to most digits.
func isDigits(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, decimals) == ""
}

// root is a folder below which the first levels of a path differ from machine to machine; depths says how many levels.
type root struct {
	name   string
	depths int
}

// roots are the only such folders: any other path that begins with a slash may be a service's URL path.
var roots = []root{{"/tmp/", 2}, {"/var/", 2}, {"/home/", 2}, {"/root/", 1}, {"/usr/", 1}, {"/opt/", 1}, {"/workspace/", 1}, {"/work/", 1}, {"/app/", 0},
	{"/srv/", 1}, {"/mnt/", 2}, {"/private/", 2}, {"/users/", 2}, {"/builds/", 2}, {"/build/", 1}, {"/src/", 1}, {"/go/", 1}, {"/proc/", 1}, {"/run/", 1},
	{"/nix/", 2}, {"/etc/", 0}, {"/data/", 1}}

// within are the roots that also count inside another root, as in /mnt/home/.
var within = []string{"/home/", "/users/", "/builds/", "/workspace/"}

// rootOf returns the root of a lowercase path; nil if it has none.
func rootOf(lower string) *root {
	i := slices.IndexFunc(roots, func(r root) bool { return strings.HasPrefix(lower, r.name) })
	if i < 0 {
		return nil
	}
	return &roots[i]
}

// lowered lowercases ASCII only. Unlike strings.ToLower it keeps every byte offset.
func lowered(s string) string {
	small := []byte(s)
	for i, b := range small {
		if 'A' <= b && b <= 'Z' {
			small[i] = b + 'a' - 'A'
		}
	}
	return string(small)
}

// belowProject returns the end of a path below a root, without the folders that differ on the next machine: the file, and its folder unless that is
// one of the machine's own.
func belowProject(name string) string {
	lower := lowered(name)
	for _, inner := range within {
		if i := strings.LastIndex(lower, inner); i > 0 {
			name, lower = name[i:], lower[i:]
		}
	}
	r := rootOf(lower)
	parts := strings.Split(strings.TrimRight(name[len(r.name):], "/"), "/")
	parts = parts[min(r.depths, len(parts)-1):]
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}
