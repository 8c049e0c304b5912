package gitcmd

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"signalbox/internal/redact"
)

// ErrLocked: another git program holds a lock in the repository. Trying again later helps.
var ErrLocked = errors.New("the repository is locked by another git program")

// ErrNoAnswer: git did not end within the time that its command may take.
var ErrNoAnswer = errors.New("no answer")

// Error is git ending with something else than success.
type Error struct {
	subcommand string
	Code       int
	Signal     string // the name of the signal that ended it, if one did
	Message    string // what of Stderr says what went wrong, harmless in a log line
	Stderr     string // the last of it
}

func (e *Error) Error() string {
	switch {
	case e.Signal != "":
		return fmt.Sprintf("git %s: ended by %s", e.subcommand, e.Signal)
	case e.Message != "":
		return fmt.Sprintf("git %s: %s", e.subcommand, e.Message)
	default:
		return fmt.Sprintf("git %s: exit status %d", e.subcommand, e.Code)
	}
}

// Exited reports whether err is git's own exit with code, which some subcommands use as an answer.
func Exited(err error, code int) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Signal == "" && failed.Code == code
}

// complaint is what of stderr says what went wrong: the lines that git marks as
// errors, of which the first is the cause, else the last line. Hints follow errors.
func complaint(stderr string) string {
	last := ""
	var marked []string
	for line := range strings.Lines(stderr) {
		line = Clean(line)
		if line != "" {
			last = line
		}
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			marked = append(marked, line)
		}
	}
	if len(marked) > 0 {
		return Clean(strings.Join(marked, "; "))
	}
	return last
}

// Clean makes text from a repository or a remote harmless in a log line.
func Clean(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == unicode.ReplacementChar {
			return -1
		}
		return c
	}, strings.ToValidUTF8(redact.Clean(text), ""))
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return strings.TrimSpace(text)
}

// tail keeps the end of what is written to it.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}
