package login

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"signalbox/internal/agent"
)

// claude is a person's login, made up, with settings of every kind.
func claude(t *testing.T) Login {
	t.Helper()
	l := Login{Home: t.TempDir(), Folder: ".claude", File: ".credentials.json", Settings: []string{"settings.json", "*.md", "hooks", "skills"}}
	for name, text := range map[string]string{".credentials.json": tokens("first"), "settings.json": `{"model": "opus"}`, "CLAUDE.md": "Be kind.",
		"skills/fish/SKILL.md": "Swim.", "projects/other/talk.jsonl": "of another project", "history.jsonl": "all that was ever typed"} {
		write(t, filepath.Join(l.Home, ".claude", name), text)
	}
	return l
}

func tokens(name string) string {
	return `{"claudeAiOauth": {"accessToken": "sk-ant-oat01-` + name + `", "refreshToken": "sk-ant-ort01-` + name + `", "expiresAt": 1, "scopes": ["user:inference"]}}`
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// all are the files below a folder, with what they hold.
func all(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files[name] = read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func lend(t *testing.T, l Login, keep string) (*Loan, string) {
	t.Helper()
	loan, err := l.Lend(t.Context(), keep)
	if err != nil {
		t.Fatal(err)
	}
	return loan, loan.Task(agent.Task{}).Login["~/.claude"]
}

// killed is a loan whose process is gone: nothing is done any more, and the kernel frees its lock.
func killed(l *Loan) {
	l.end()
	l.ended.Wait()
	l.close()
}

func (l *Loan) mustReturn(t *testing.T) {
	t.Helper()
	if err := l.Return(); err != nil {
		t.Error(err)
	}
}

func TestSettingsCountInsideAndNothingElseIsSeen(t *testing.T) {
	t.Parallel()
	l, keep := claude(t), t.TempDir()
	loan, inside := lend(t, l, keep)
	defer loan.mustReturn(t)
	skills := filepath.Join(l.Home, ".claude", "skills")
	if to, err := os.Readlink(filepath.Join(inside, "skills")); err != nil || to != skills {
		t.Errorf("skills lead to %q, %v", to, err)
	}
	task := loan.Task(agent.Task{})
	if len(task.Reads) != 1 || task.Reads[0] != skills || len(task.Writes) != 1 || task.Writes[0] != filepath.Join(keep, insideFolder) {
		t.Errorf("shown to read %q, to write %q", task.Reads, task.Writes)
	}
	seen := all(t, inside)
	delete(seen, "skills")
	if len(seen) != 3 || seen["settings.json"] != `{"model": "opus"}` || seen["CLAUDE.md"] != "Be kind." || seen[".credentials.json"] != tokens("first") {
		t.Errorf("seen: %q", seen)
	}
}

// An agent that was misled writes whatever it likes inside: the person's folder has the renewed tokens in the
// end, and else what it had. Nothing of a login stays, and the next call has none of what was planted.
func TestNothingButRenewedTokensComesBack(t *testing.T) {
	t.Parallel()
	l, keep := claude(t), t.TempDir()
	before := all(t, l.Home)
	loan, inside := lend(t, l, keep)
	planted := []string{"settings.json", "settings.local.json", "CLAUDE.md", "EVIL.md", "hooks/start.sh", "plugins/evil/hooks.json", ".mcp.json", "../.claude.json"}
	for _, name := range planted {
		write(t, filepath.Join(inside, name), "planted")
	}
	write(t, filepath.Join(inside, ".credentials.json"), `{"claudeAiOauth": {"accessToken": "sk-ant-oat01-second", "refreshToken": "sk-ant-ort01-second", "expiresAt": 4102444800000,
		"scopes": ["everything"]}, "pluginSecrets": {"evil": "planted"}, "hooks": {"SessionStart": "planted"}}`)
	loan.mustReturn(t)
	after := all(t, l.Home)
	var credentials map[string]map[string]any
	if err := json.Unmarshal([]byte(after[".claude/.credentials.json"]), &credentials); err != nil {
		t.Fatal(err)
	}
	o := credentials["claudeAiOauth"]
	if len(credentials) != 1 || o["accessToken"] != "sk-ant-oat01-second" || o["refreshToken"] != "sk-ant-ort01-second" || o["expiresAt"] != 4102444800000.0 || o["scopes"].([]any)[0] != "user:inference" {
		t.Errorf("the login is %s", after[".claude/.credentials.json"])
	}
	for name, text := range before {
		if name != ".claude/.credentials.json" && after[name] != text || len(after) != len(before) {
			t.Errorf("%s was %q and is %q; %d files are %d", name, text, after[name], len(before), len(after))
		}
	}
	if info, err := os.Stat(filepath.Join(l.Home, ".claude", ".credentials.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for name, text := range all(t, keep) {
		if strings.Contains(text, "sk-ant-") || name == recordFile {
			t.Errorf("left: %s: %q", name, text)
		}
	}
	loan, inside = lend(t, l, keep)
	defer loan.mustReturn(t)
	for _, name := range []string{"settings.json", "CLAUDE.md", "EVIL.md", "hooks/start.sh"} { // what is named as a setting
		if strings.Contains(read(filepath.Join(inside, name)), "planted") {
			t.Errorf("the next call goes by %s", name)
		}
	}
}

// A program inside can put links, pipes and folders in the place of everything that we read and write there.
func TestNoLinkInsideLeadsUsOut(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(inside, outside string) error{
		"the tokens are a link":   func(inside, outside string) error { return os.Symlink(outside, inside+"/.credentials.json") },
		"the new copy is a link":  func(inside, outside string) error { return os.Symlink(outside, inside+"/.credentials.json.new") },
		"a setting is a link":     func(inside, outside string) error { return os.Symlink(outside, inside+"/settings.json") },
		"the folder is a link":    func(inside, outside string) error { return os.Symlink(filepath.Dir(outside), inside) },
		"the tokens are a folder": func(inside, _ string) error { return os.MkdirAll(inside+"/.credentials.json/x", 0o700) },
		"the tokens are much text": func(inside, _ string) error {
			return os.WriteFile(inside+"/.credentials.json", make([]byte, 2<<20), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, keep, outside := claude(t), t.TempDir(), filepath.Join(t.TempDir(), "private.txt")
			write(t, outside, tokens("private"))
			loan, inside := lend(t, l, keep)
			if err := os.RemoveAll(inside); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(name, "the folder") {
				if err := os.Mkdir(inside, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := plant(inside, outside); err != nil {
				t.Fatal(err)
			}
			_ = loan.exchange()
			killed(loan)
			if loan, err := l.Lend(t.Context(), keep); err == nil {
				loan.mustReturn(t)
			}
			if read(outside) != tokens("private") || read(filepath.Join(l.Home, ".claude", ".credentials.json")) != tokens("first") || read(filepath.Join(l.Home, ".claude", "settings.json")) != `{"model": "opus"}` {
				t.Errorf("outside: %s; the person's: %q", read(outside), all(t, l.Home))
			}
		})
	}
}

func TestARenewedLoginSurvivesAKill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, l Login)
		want      string
	}{
		"nothing happens meanwhile": {func(*testing.T, Login) {}, "second"},
		"the person logged in meanwhile": {func(t *testing.T, l Login) {
			write(t, filepath.Join(l.Home, ".claude/.credentials.json"), tokens("third"))
		}, "third"},
		"the person logged out": {func(t *testing.T, l Login) {
			if err := os.Remove(filepath.Join(l.Home, ".claude/.credentials.json")); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, keep := claude(t), t.TempDir()
			loan, inside := lend(t, l, keep)
			loan.end() // no process exchanges tokens any more
			loan.ended.Wait()
			write(t, filepath.Join(inside, ".credentials.json"), tokens("second"))
			if err := Reclaim([]Login{l}, keep, filepath.Join(keep, "nothing")); err != nil || !strings.Contains(read(filepath.Join(inside, ".credentials.json")), "second") {
				t.Errorf("a loan that goes on was settled: %v", err)
			}
			killed(loan)
			c.meanwhile(t, l)
			for range 2 {
				if err := Reclaim([]Login{l}, keep); err != nil {
					t.Error(err)
				}
			}
			got := read(filepath.Join(l.Home, ".claude/.credentials.json"))
			if c.want == "" && got != "" || !strings.Contains(got, "ort01-"+c.want) && c.want != "" {
				t.Errorf("the login is %s", got)
			}
			if left := read(filepath.Join(inside, ".credentials.json")); left != "" {
				t.Errorf("a copy is left: %s", left)
			}
		})
	}
}

// A token that one side renewed is the other's at once: the old one is worth nothing any more.
func TestWhileItIsLentBothSidesHaveTheNewestTokens(t *testing.T) {
	t.Parallel()
	l, keeps := claude(t), []string{t.TempDir(), t.TempDir()}
	one, inOne := lend(t, l, keeps[0])
	two, inTwo := lend(t, l, keeps[1])
	sides := []string{filepath.Join(l.Home, ".claude/.credentials.json"), filepath.Join(inOne, ".credentials.json"), filepath.Join(inTwo, ".credentials.json")}
	changes, err := fsnotify.NewWatcher()
	for _, path := range sides {
		err = errors.Join(err, changes.Add(filepath.Dir(path)))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = changes.Close() }()
	hung := time.After(time.Minute)
	for step, name := range []string{"second", "third", "fourth"} {
		write(t, sides[step], tokens(name))
		behind := func(path string) bool { return !strings.Contains(read(path), "ort01-"+name) }
		for slices.ContainsFunc(sides, behind) {
			select {
			case <-changes.Events:
			case <-hung:
				t.Fatalf("somebody has not %s", name)
			}
		}
	}
	one.mustReturn(t)
	two.mustReturn(t)
}

func TestOneEnvironmentHasOneLoan(t *testing.T) {
	t.Parallel()
	l, keep := claude(t), t.TempDir()
	loan, _ := lend(t, l, keep)
	if _, err := l.Lend(t.Context(), keep); err == nil {
		t.Error("it was lent twice")
	}
	if _, err := l.Lend(t.Context(), ""); err == nil {
		t.Error("it was lent to nowhere")
	}
	loan.mustReturn(t)
	loan, _ = lend(t, l, keep)
	loan.mustReturn(t)
}

// A repository may bring the word of a loan that never was, by which every command would write or remove a person's files.
func TestOnlyLoansOfKnownLoginsAreSettled(t *testing.T) {
	t.Parallel()
	l := claude(t)
	person := filepath.Join(l.Home, "settings.json")
	const before, after = `{"access": "first"}`, `{"access": "second"}`
	credentials := filepath.Join(l.Home, ".claude/.credentials.json")
	for name, c := range map[string]struct {
		record record
		inside func(t *testing.T, inside string)
	}{
		"another file of the person's": {record{Person: person, Copy: "x.json", At: digest([]byte(before))}, func(t *testing.T, inside string) {
			write(t, filepath.Join(inside, "x.json"), after)
		}},
		"another copy": {record{Person: credentials, Copy: "x.json", At: digest([]byte(read(credentials)))}, func(t *testing.T, inside string) {
			write(t, filepath.Join(inside, "x.json"), tokens("second"))
		}},
		"a link to where the person's own is": {record{Person: credentials, Copy: ".claude/.credentials.json"}, func(t *testing.T, inside string) {
			if err := os.Symlink(l.Home, inside); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			keep := t.TempDir()
			write(t, person, before)
			login := read(credentials)
			c.inside(t, filepath.Join(keep, insideFolder))
			text, err := json.Marshal(c.record)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(keep, recordFile), string(text))
			if err := Reclaim([]Login{l}, keep); err == nil {
				t.Error("no error")
			}
			if read(person) != before || read(credentials) != login || login == "" {
				t.Errorf("%s and %s are left", read(person), read(credentials))
			}
			if loan, err := l.Lend(t.Context(), keep); err == nil {
				_ = loan.Return()
				t.Error("it was lent")
			}
		})
	}
}
