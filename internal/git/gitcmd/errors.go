package gitcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"signalbox/internal/redact"
)

// ErrLocked: another git program holds a lock in the repository. A later retry helps.
var ErrLocked = errors.New("the repository is locked by another git program")

// ErrNoAnswer: git did not end within its command's time limit.
var ErrNoAnswer = errors.New("no answer")

// Error is a git that did not end with success.
type Error struct {
	subcommand string
	Code       int
	Signal     string // the name of the signal that ended it, if any
	Message    string // the reason in Stderr, safe for a log line
	Stderr     string // its last bytes
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

// complaint returns the reason in stderr: the lines that git marks as errors, the cause first, else the
// last line. Hints follow errors.
func complaint(stderr string) string {
	last := ""
	var marked []string
	for line := range strings.Lines(stderr) {
		line = Clean(line)
		if line != "" {
			last = line
		}
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") || strings.HasPrefix(line, "ssh: ") {
			marked = append(marked, line)
		}
	}
	if len(marked) > 0 {
		return Clean(strings.Join(marked, "; "))
	}
	return last
}

// Clean makes text from a repository or a remote safe for a log line.
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

// tail keeps the last limit bytes that are written to it.
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

// ErrUnreachable: a remote was not reached, or the connection ended before the answer did. A later retry
// may help.
var ErrUnreachable = errors.New("the remote cannot be reached")

// networkWords are what git, ssh and curl print, in lower case, during passing trouble of the network or
// the other side.
var networkWords = []string{
	"could not resolve host", "temporary failure in name resolution", "name or service not known",
	"connection timed out", "operation timed out", "connection refused", "connection reset", "connection closed by",
	"network is unreachable", "no route to host", "couldn't connect to server", "failed to connect to",
	"the remote end hung up unexpectedly", "unexpected disconnect", "early eof", "rpc failed",
	"returned error: 429", "returned error: 500", "returned error: 502", "returned error: 503", "returned error: 504",
	"kex_exchange_identification",
}

// refusals are what they print, in lower case, if the other side answered and waiting changes nothing.
// Git then also complains that it hung up.
var refusals = []string{
	"does not appear to be a git repository", "repository not found", "permission denied", "authentication failed",
	"could not read username", "could not read password", "host key verification failed",
}

// ErrNoSSH: git found no program ssh to reach the remote with.
var ErrNoSSH = errors.New("there is no program ssh")

// Is makes errors.Is(err, ErrUnreachable) true for network errors of git, ssh and curl, and errors.Is(err, ErrNoSSH) if there is no ssh.
func (e *Error) Is(target error) bool {
	if target == ErrNoSSH {
		return strings.Contains(e.Stderr, "cannot run ssh: No such file or directory")
	}
	stderr := strings.ToLower(e.Stderr)
	said := func(words string) bool { return strings.Contains(stderr, words) }
	return target == ErrUnreachable && !slices.ContainsFunc(refusals, said) && slices.ContainsFunc(networkWords, said)
}
