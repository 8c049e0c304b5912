package commandline

import "strings"

// plain are the characters that every shell takes as they are, beside letters and digits.
const plain = "_@%+=:,./-"

// Quote is the list of arguments as one line of a POSIX shell.
func Quote(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg)
	}
	return strings.Join(quoted, " ")
}

func quote(arg string) string {
	switch {
	case arg != "" && strings.IndexFunc(arg, special) < 0:
		return arg
	case !strings.ContainsAny(arg, "\"$`\\!"):
		return `"` + arg + `"`
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

func special(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune(plain, r)
}
