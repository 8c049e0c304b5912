package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
)

const twoGivenUp = `{"environments": [
	{"env_id": "one", "issue_number": 1, "branch": "b", "title": "t", "status": "abandoned", "phase": 5, "step": "tdd-green", "last_used_at": "2026-01-03T10:00:00Z"},
	{"env_id": "two", "issue_number": 2, "branch": "b", "title": "t", "status": "abandoned", "phase": 5, "step": "tdd-green", "last_used_at": "2026-01-03T10:00:00Z"}]}`

func TestCleanUpDeletesOnlyWhatAPersonAgreesTo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answers, left string
		code                int
	}{
		{"yes to the first, no to the second", "y\nn\n", "two", 0},
		{"no to the first, yes to the second", "\nYES\n", "one", 0},
		{"an answer that is cut off is taken as it is", "y\nyes", "", 0},
		{"nobody there", "", "one two", 0},
		{"anything else is no", "yep\nja\n", "one two", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "environments.json"), []byte(twoGivenUp), 0o644); err != nil {
				t.Fatal(err)
			}
			var out, said bytes.Buffer
			streams := command.Streams{In: strings.NewReader(test.answers), Out: &out, Err: &said, Env: func(string) string { return "" }, Dir: dir}
			if code := cli.Main(t.Context(), []string{"env", "cleanup"}, streams); code != test.code {
				t.Errorf("exit code %d: %s%s", code, &out, &said)
			}
			if got := strings.Join(environmentIDs(t, dir), " "); got != test.left {
				t.Errorf("left are %q, want %q\n%s", got, test.left, &said)
			}
			if strings.Count(said.String(), "Delete it?") != 2 || !strings.Contains(said.String(), "not made here") {
				t.Errorf("the questions are %q", &said)
			}
		})
	}
}

func TestAtATerminalColumnsHaveNamesAndAnUnknownIssueAWord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "environments.json"), []byte(twoGivenUp), 0o600); err != nil {
		t.Fatal(err)
	}
	const ended = `{"version": "1.0", "issue": 7, "name": "signalbox-issue-7", "agent": "it", "mode": "headless", "id": "a", "started_at": "2026-01-03T10:00:00Z", "ended_at": "2026-01-03T10:01:00Z"}`
	writeFile(t, filepath.Join(dir, ".signalbox/sessions/signalbox-issue-7/session.json"), ended, 0o600)
	for _, test := range []struct{ command, atTerminal, always string }{
		{"session list", "ISSUE  STATUS", "headless"},
		{"env list", "ENV_ID  ISSUE  STATUS     PHASE        PR  BRANCH  TITLE\none     1", "abandoned"},
		{"env ports", "ISSUE  PORTS        ENV_ID\n#1     10010-10019  one", "10010-10019"},
		{"issue get 99", "nothing is written about issue 99", "unknown\n"},
	} {
		for _, terminal := range []bool{true, false} {
			var both bytes.Buffer
			streams := command.Streams{In: strings.NewReader(""), Out: &both, Err: &both, Terminal: terminal, Env: func(string) string { return "" }, Dir: dir}
			code := cli.Main(t.Context(), strings.Fields(test.command), streams)
			if code != 0 || !strings.Contains(both.String(), test.always) || strings.Contains(both.String(), test.atTerminal) != terminal {
				t.Errorf("%s, terminal %v: exit code %d, printed\n%s", test.command, terminal, code, &both)
			}
		}
	}
}

func environmentIDs(t *testing.T, dir string) (ids []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "environments.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Environments []struct {
			EnvID string `json:"env_id"`
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Environments {
		ids = append(ids, e.EnvID)
	}
	return ids
}
