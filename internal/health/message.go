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
//
// Ids are in state.json and in the keys of requests. A change of these rules gives every open error a new id: its request would be opened twice.
func ErrorID(check, head, said string) string {
	return fmt.Sprintf("%s-%.6x", check, sha256.Sum256([]byte(check+"\n"+NormalMessage(head, said))))
}

// signatureLines limits how many lines of a message go into an error's id. Endless output would differ somewhere.
const signatureLines = 500

// NormalMessage returns the part of a failure that is the same when the same thing fails again: the head, and those lines of the output that name
// an error (all of them if none does). It removes times, durations, ports, addresses, process numbers, folders, temporary names and ids, and sorts
// the lines, because tests that run in parallel end in any order. The head alone never identifies a failure: it is the same whatever the program
// printed.
func NormalMessage(head, said string) string {
	all := normalLines(said)
	lines := slices.DeleteFunc(slices.Clone(all), func(line string) bool {
		line = strings.ToLower(line)
		return !slices.ContainsFunc(errorWords, func(word string) bool { return strings.Contains(line, word) })
	})
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

// errorWords are lowercase words that programs print when something is wrong. A line without one of them is progress, a banner or a list of what
// passed, and may differ each time.
var errorWords = []string{"error", "fail", "panic", "fatal", "refused", "denied", "cannot", "can't", "could not", "no such", "not found",
	"undefined", "no space", "unable", "exception", "assert", "expected", "want", "timeout", "timed out", "unreachable", "status", "signal",
	"exit code", "out of memory", "time limit", "deadline", "broken", "unknown", "invalid", "missing", "symbol"}

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
//
//	/home/ada/shop/web/cart.ts              →  web/cart.ts
//	https://api.example.com:8443/v1/4f1c9a7 →  https://api.example.com/v1/<id>
//	/tmp/abc                                →  <temporary>
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
start:
	for i := 0; i+len(stamp) <= len(name); i++ {
		for k := range len(stamp) {
			c := rune(name[i+k])
			if digit := '0' <= c && c <= '9'; digit != (stamp[k] == '0') || !digit && !strings.ContainsRune("-_.:T", c) {
				continue start
			}
		}
		return name[:i] + strings.TrimLeft(name[i+len(stamp):], decimals+"_.Z")
	}
	return name
}

// normalParts replaces ids and random names within a compound word, such as a path or a dashed name. A catalogue's name for an error stays whole.
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
