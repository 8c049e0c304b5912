package health

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ErrorID returns an id for an error, made of the check that found it and a hash of its message, with everything removed that changes from one
// failure to the next. head is our own description; said is the program's output.
func ErrorID(check, head, said string) string {
	return fmt.Sprintf("%s-%.6x", check, sha256.Sum256([]byte(check+"\n"+NormalMessage(head, said))))
}

// signatureLines limits how many lines of a message go into an error's id.
const signatureLines = 500

// NormalMessage returns the part of a failure that is the same when the same thing fails again: the head, and those lines of the output that name
// an error (all of them if none does). It removes times, durations, ports, addresses, process numbers, folders, temporary names and ids, and sorts
// the lines, because tests that run in parallel end in any order. The head alone never identifies a failure: it is the same whatever the program
// printed.
func NormalMessage(head, said string) string {
	all := normalLines(said)
	lines := slices.DeleteFunc(slices.Clone(all), func(line string) bool { return !tells(line) })
	if len(lines) == 0 {
		lines = all
	}
	lines = append(lines, normalLines(head)...)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return strings.Join(lines[:min(len(lines), signatureLines)], "\n")
}

// normalLines returns the normal form of each line once, in the order of the text.
func normalLines(text string) (lines []string) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = normalLine(line); line != "" && !known[line] {
			known[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

// errorWords are lowercase words that programs print when something is wrong.
var errorWords = []string{"error", "fail", "panic", "fatal", "refused", "denied", "cannot", "can't", "could not", "no such", "not found",
	"undefined", "no space", "unable", "exception", "assert", "expected", "want", "timeout", "timed out", "unreachable", "status", "signal",
	"exit code", "out of memory", "time limit", "deadline", "broken", "unknown", "invalid", "missing", "symbol"}

// tells reports whether a line names an error.
func tells(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(errorWords, func(word string) bool { return strings.Contains(line, word) })
}

// withoutProcess removes the number from "program[123]:", as system logs begin.
func withoutProcess(line string) string {
	before, after, found := strings.Cut(line, "]:")
	i := strings.LastIndexByte(before, '[')
	if !found || i <= 0 || !number(before[i+1:]) || unicode.IsSpace(rune(before[i-1])) {
		return line
	}
	return before[:i] + ":" + after
}

// meaningful reports whether a word says more than a placeholder or a drawn line.
func meaningful(word string) bool {
	return strings.ContainsFunc(word, unicode.IsLetter) && !strings.HasPrefix(word, "<")
}

func separates(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("()[]{}<>\"'`,;=|\u2018\u2019\u201c\u201d\u2192", r)
}

// withoutPlace removes line, column and port from the end of a file or host name.
func withoutPlace(word string) string {
	for {
		i := strings.LastIndexByte(word, ':')
		if i <= 0 || !number(word[i+1:]) {
			return word
		}
		word = word[:i]
	}
}

// normalName does the same for a word that may be a path or an address: it keeps what would be the same on another machine.
func normalName(word string) string {
	if strings.Contains(word, "\\") && strings.Contains(word, ":") {
		word = "/users/" + strings.ReplaceAll(word, "\\", "/")
	}
	if scheme, rest, ok := strings.Cut(word, "://"); ok {
		host, below, _ := strings.Cut(rest, "/")
		return strings.TrimSuffix(scheme+"://"+withoutPlace(host)+"/"+normalParts(below), "/")
	}
	lower := lowered(word)
	if strings.HasPrefix(lower, "/tmp/") && strings.Count(word, "/") == 2 {
		return "<temporary>"
	}
	if rootOf(lower) != nil {
		word = belowProject(word)
	}
	return normalParts(withoutStamp(strings.TrimPrefix(word, "./")))
}

// stamp is the shape of a time in a file name. 0 stands for any digit; each separator may be a dash, a dot or missing.
const stamp = "0000-00-00T00:00:00"

// withoutStamp removes the time from a name, including fractions of a second.
func withoutStamp(name string) string {
	for i := 0; i+len(stamp) <= len(name); i++ {
		if isStamp(name[i : i+len(stamp)]) {
			return name[:i] + strings.TrimLeft(name[i+len(stamp):], decimals+"_.Z")
		}
	}
	return name
}

func isStamp(s string) bool {
	for i := range len(stamp) {
		if isDigit := s[i] >= '0' && s[i] <= '9'; isDigit != (stamp[i] == '0') || !isDigit && !strings.ContainsRune("-_.:T", rune(s[i])) {
			return false
		}
	}
	return true
}

// normalParts replaces ids and random names within a compound word.
func normalParts(word string) string {
	if isCode(word) {
		return word
	}
	var out strings.Builder
	for word != "" {
		end := strings.IndexAny(word, "/-_.?&:@+%")
		if isUUID(word) {
			end = 36
		} else if end < 0 {
			end = len(word)
		}
		out.WriteString(normalPart(word[:end]))
		if word = word[end:]; word != "" {
			out.WriteByte(word[0])
			word = word[1:]
		}
	}
	return out.String()
}

// normalPart replaces a part of a word if it is an id, an address, a long number or a random name.
func normalPart(part string) string {
	digits := 0
	for _, r := range part {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	lower := strings.ToLower(part)
	switch {
	case len(part) >= 16 && digits >= 3 && strings.ContainsFunc(part, func(r rune) bool { return r > unicode.MaxASCII }): // not an id but words without spaces: 2026年11月21日に
		return strings.Join(strings.FieldsFunc(part, unicode.IsDigit), "<n>")
	case isUUID(part):
		return "<id>"
	case strings.HasPrefix(lower, "0x") && hexadecimal(lower[2:]):
		return "<address>"
	case len(part) >= 7 && digits > 0 && hexadecimal(lower), len(part) >= 16 && digits >= 3:
		return "<id>"
	case number(part) && len(part) > 3:
		return "<n>"
	case digits >= 6 && !isCode(part): // go-build1234567 and TestX1234567, but not TestIssue1234
		return strings.TrimRight(part, decimals) + "<n>"
	case digits >= 2 && len(part) >= 6 && strings.IndexFunc(part, unicode.IsDigit) < len(part)-digits &&
		strings.ContainsFunc(part, unicode.IsUpper) && strings.ContainsFunc(part, unicode.IsLower):
		// From mktemp: aB3dE6fG. Only random names mix capital and small letters around digits.
		return "<id>"
	}
	return part
}
