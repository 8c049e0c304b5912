package health

import (
	"slices"
	"strings"
	"unicode"
)

// This file knows the shapes of words that differ each time a program prints the same message. An error's id must not change with them, or each pass
// would report the same error as a new one.

const decimals = "0123456789"

// number reports whether s consists of digits and dots.
func number(s string) bool {
	return s != "" && strings.Trim(s, decimals+".") == "" && unicode.IsDigit(rune(s[0]))
}

// hexadecimal reports whether s consists of lowercase hexadecimal digits.
func hexadecimal(s string) bool { return s != "" && strings.Trim(s, decimals+"abcdef") == "" }

// isUUID reports whether s begins with 8-4-4-4-12 hexadecimal digits.
func isUUID(s string) bool {
	if len(s) < 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	return hexadecimal(strings.ReplaceAll(strings.ToLower(s[:36]), "-", ""))
}

// isTime reports whether s is a time: 2026-11-21, 2026/11/21, 07:04:33.12, 2026-11-21T07:04:33Z, 21/Nov/2026:07:04:33, +0000.
func isTime(s string) bool {
	if len(s) == 5 && (s[0] == '+' || s[0] == '-') && number(s[1:]) {
		return true
	}
	return timeShape(s, "0000-00-00") || timeShape(s, "0000/00/00") || timeShape(s, "00:00:00") || timeShape(s, "00:00") && len(s) == 5 ||
		timeShape(s, "00/xxx/0000")
}

// timeShape reports whether s begins with shape, in which 0 is any digit and x any letter, and continues with nothing that would make it a name.
func timeShape(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		switch c := rune(s[i]); {
		case shape[i] == '0' && unicode.IsDigit(c), shape[i] == 'x' && unicode.IsLetter(c), shape[i] == s[i] && !unicode.IsDigit(c):
		default:
			return false
		}
	}
	return strings.Trim(s[len(shape):], decimals+":.,TZtz+-") == ""
}

var (
	// months are the words that only dates and times have.
	months = []string{"january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mon", "tue", "wed", "thu", "fri",
		"sat", "sun", "utc", "gmt", "am", "pm"}
	// timeUnits are kept apart from the units of size, because only a number next to a unit of time is a duration.
	timeUnits = []string{"ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hours"}
	units     = append(slices.Clone(timeUnits), "b", "kb", "mb", "gb", "kib", "mib", "gib", "bytes", "%")
)

// isMonth reports whether s is the name of a month or a weekday, or another word that only dates have.
func isMonth(s string) bool { return slices.Contains(months, strings.ToLower(s)) }

// isUnit reports whether s is a unit of time or size.
func isUnit(s string) bool { return slices.Contains(units, strings.ToLower(s)) }

// isDuration reports whether s is a sequence of numbers with units: 1.5s, 300ms, 1m2.3s, 12KB, 45%.
func isDuration(s string) bool {
	if s == "" || !unicode.IsDigit(rune(s[0])) {
		return false
	}
	for s != "" {
		rest := strings.TrimLeft(s, decimals+".")
		unit := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) }))]
		if len(rest) == len(s) || !isUnit(unit) {
			return false
		}
		s = rest[len(unit):]
	}
	return true
}
