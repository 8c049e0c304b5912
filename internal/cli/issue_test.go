package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
)

// command runs one command line in dir, in this process.
func commandIn(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = cli.Main(context.Background(), args, command.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut,
		Width: func() int { return 80 }, Env: func(string) string { return "" }, Dir: dir})
	return out.String(), errOut.String(), code
}

func TestErrorMessagesOfAnyTextRoundTripOrAreReplacedVisibly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for given, want := range map[string]string{
		"テストが失敗しました 🚂 Größe עברית":                     "テストが失敗しました 🚂 Größe עברית",
		`"quotes" 'and' \back\\slashes\ {}`:            `"quotes" 'and' \back\\slashes\ {}`,
		"two\nlines\tand\r\na tab\n\n":                 "two\nlines\tand\r\na tab\n\n",
		"\x00\x01\x1b[31mred\x7f\u009b\u2028\u202eend": "\x00\x01\x1b[31mred\x7f\u009b\u2028\u202eend",
		"bytes \xff\xfe that are no \xc3( UTF-8":       "bytes \ufffd\ufffd that are no \ufffd( UTF-8",
		"token ghp_0123456789abcdefghij0123456789":     "token [redacted]",
		strings.Repeat("long ", 200_000):               strings.Repeat("long ", 200_000),
		"-v":                                           "-v",
		"</script>&amp;":                               "</script>&amp;",
	} {
		if _, stderr, code := commandIn(t, dir, "issue", "set", "--", "42", "error", given); code != 0 {
			t.Fatalf("set %.40q: %s", given, stderr)
		}
		data, err := os.ReadFile(filepath.Join(dir, ".worktrees/.status/42.json"))
		var file struct {
			Message string `json:"error_message"`
		}
		if err != nil || json.Unmarshal(data, &file) != nil || file.Message != want {
			t.Errorf("the file of %.40q holds %.60q, %v", given, file.Message, err)
		}
		if got, _, _ := commandIn(t, dir, "issue", "error", "42"); got != want+"\n" {
			t.Errorf("%.40q is printed as %.40q", given, got)
		}
		if shown, _, _ := commandIn(t, dir, "issue", "show", "42"); strings.Count(shown, "\n") != 4 || strings.ContainsAny(shown, "\x1b\x00\u202e") {
			t.Errorf("%.40q is shown as %.200q", given, shown)
		}
	}
}
