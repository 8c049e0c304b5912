package replay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/replay"
	"signalbox/internal/process"
)

func TestDemoScript(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, dir, "greeting.txt", "Hello.\n")

	plan, log := play(t, string(text), agent.Task{Role: "planner", Dir: dir})
	if got, err := agent.JSON(plan.Answer); err != nil || !strings.Contains(string(got), `"steps":[{"instructions":"Change greeting.txt"`) {
		t.Errorf("plan %s, %v", got, err)
	}
	if !strings.HasPrefix(log, "Reading the request.\n") {
		t.Errorf("log = %q", log)
	}

	step := agent.Task{Role: "implementer", StepID: "S01", Attempt: 1, Dir: dir}
	crashed, _ := play(t, string(text), step)
	if crashed.Failure == nil || crashed.Process.Signal != "SIGKILL" || read(t, dir, "notes/half.txt") != "half a thought\n" {
		t.Errorf("first attempt = %+v", crashed)
	}
	step.Attempt = 2
	for range 2 { // A call is repeated after a crash of Signalbox.
		done, log := play(t, string(text), step)
		if done.Failure != nil || done.Answer != "The greeting is for whoever is named." {
			t.Errorf("second attempt = %+v, log %q", done, log)
		}
		if got := read(t, dir, "greeting.txt"); got != "Hello, you.\n" {
			t.Errorf("greeting.txt = %q", got)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}

	for round, want := range map[int]string{1: `{"findings":[{"title":"no test"}],"summary":"One thing is missing."}`, 2: `{"findings":[]}`} {
		review, _ := play(t, string(text), agent.Task{Role: "reviewer", Round: round, Dir: dir})
		if review.Answer != want {
			t.Errorf("round %d: answer %q, want %q", round, review.Answer, want)
		}
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	const nothing = 0
	for _, test := range []struct {
		name, actions string
		exit          int
		log           string
		files         map[string]string
	}{
		{name: "text is answered as it is", actions: `{answer: "<b> & 1"}`, log: "<b> & 1\n"},
		{name: "all else is answered as JSON", actions: `{answer: [1, "<b>", {a: null}]}`, log: `[1,"<b>",{"a":null}]`},
		{name: "exit ends the script", actions: "{exit: 7}, {print: not this}", exit: 7},
		{name: "exit with code 0 ends it well", actions: "{exit: 0}, {print: not this}", exit: nothing},
		{name: "a file is written with its folders", actions: "{write: {a/b/c.txt: text}}", files: map[string]string{"a/b/c.txt": "text"}},
		{name: "a file is written over", actions: "{write: {old.txt: new}}", files: map[string]string{"old.txt": "new"}},
		{name: "what is not there is deleted already", actions: "{delete: none}, {delete: [old.txt, none/x]}", files: map[string]string{"old.txt": ""}},
		{name: "nothing is written above the working directory", actions: "{write: {../out.txt: x}}", exit: 1, log: "line 1: write: "},
		{name: "nothing is written to an absolute path", actions: "{write: {/tmp/replay-out.txt: x}}", exit: 1, log: "escapes"},
		{name: "nothing is written through a symbolic link", actions: "{run: [ln, -s, /tmp, out]}, {write: {out/x: x}}", exit: 1, log: "escapes"},
		{name: "nothing is deleted above the working directory", actions: "{delete: ../x}", exit: 1, log: "escapes"},
		{name: "a command that fails goes wrong", actions: "{run: [sh, -c, exit 3]}, {print: not this}", exit: 1, log: "line 1: run: exit status 3"},
		{name: "a patch that does not apply goes wrong", actions: `{patch: "--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-other\n+new\n"}`, exit: 1, log: "patch does not apply"},
		{name: "a patch without git's own header applies", actions: `{patch: "--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-old\n+new\n"}`, files: map[string]string{"old.txt": "new\n"}},
		{name: "a patch above the working directory is refused", actions: `{patch: "--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+new\n"}`, exit: 1, log: "invalid path"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "old.txt", "old\n")
			result, log := play(t, "entries: [{do: ["+test.actions+"]}]", agent.Task{Role: "implementer", Dir: dir})
			if result.Process.ExitCode != test.exit || !strings.Contains(log, test.log) || strings.Contains(log, "not this") {
				t.Errorf("exit code %d, log %q; want %d, %q", result.Process.ExitCode, log, test.exit, test.log)
			}
			for name, want := range test.files {
				if got := read(t, dir, name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

// A repository's subfolder is where git apply passes over a patch without a word.
func TestPatchAppliesInASubfolderOfARepository(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	if out, err := exec.Command("git", "init", "--quiet", repo).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	put(t, repo, "sub/old.txt", "old\n")
	const script = `entries: [{do: [{patch: "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"}]}]`
	for range 2 {
		result, log := play(t, script, agent.Task{Role: "implementer", Dir: filepath.Join(repo, "sub")})
		if result.Failure != nil || read(t, repo, "sub/new.txt") != "new\n" {
			t.Errorf("Failure = %+v, log %q", result.Failure, log)
		}
	}
}

func TestCrashesAreBySignal(t *testing.T) {
	t.Parallel()
	for _, signal := range []string{"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"} {
		result, log := play(t, "entries: [{do: [{crash: "+signal+"}]}]", agent.Task{Role: "implementer", Dir: t.TempDir()})
		if result.Failure == nil || result.Failure.Code != agent.Crashed || result.Process.Signal != signal {
			t.Errorf("%s: %+v, log %q", signal, result, log)
		}
	}
}

func TestCallThatTheScriptDoesNotKnow(t *testing.T) {
	t.Parallel()
	task := agent.Task{Role: "implementer", StepID: "S02", Attempt: 3, Dir: t.TempDir()}
	result, _ := play(t, "entries: [{role: planner, do: []}, {step: S01, do: []}, {attempt: 1, do: []}, {round: 1, do: []}]", task)
	want := `no entry matches role "implementer", step "S02", attempt 3, round 0`
	if result.Process.ExitCode != 2 || !strings.Contains(result.Failure.Message, want) {
		t.Errorf("%+v, want %q", result.Failure, want)
	}
}

func TestCheckRefusesScripts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script, want string
	}{
		{name: "an empty file", script: "", want: "no entries"},
		{name: "an unknown key of the file", script: "entries: [{do: []}]\nentrys: []", want: "line 2: field entrys"},
		{name: "an unknown key of an entry", script: "entries:\n  - rolle: planner", want: "line 2: field rolle"},
		{name: "a key twice", script: "entries:\n  - role: a\n    role: b", want: "line 3: mapping key \"role\" already defined"},
		{name: "an unknown action", script: "entries:\n  - do:\n      - say: x", want: `line 3: there is no action "say"`},
		{name: "two actions in one", script: "entries:\n  - do:\n      - print: x\n        exit: 1", want: "line 3: an action is one key"},
		{name: "an action without its value", script: "entries:\n  - do:\n      - print:", want: "line 3: read print: it has no value"},
		{name: "a number where a list belongs", script: "entries:\n  - do:\n      - run: 3", want: "line 3: read run"},
		{name: "a command without a program", script: "entries: [{do: [{run: []}]}]", want: "needs a program"},
		{name: "a delay without a unit", script: "entries: [{do: [{delay: 3}]}]", want: "missing unit"},
		{name: "a signal that does not end the program", script: "entries: [{do: [{crash: SIGCHLD}]}]", want: `"SIGCHLD" is not`},
		{name: "an exit code out of range", script: "entries: [{do: [{exit: 256}]}]", want: "256 is outside"},
		{name: "hang: false", script: "entries: [{do: [{hang: false}]}]", want: "only be true"},
		{name: "a negative flood", script: "entries: [{do: [{flood: -1}]}]", want: "less than none"},
		{name: "an empty patch", script: "entries: [{do: [{patch: ' '}]}]", want: "it is empty"},
		{name: "an answer that is no JSON", script: "entries: [{do: [{answer: {1: .nan}}]}]", want: "turn it into JSON"},
		{name: "two documents", script: "entries: [{do: []}]\n---\nentries: []", want: "more than one"},
		{name: "no YAML", script: "entries: [", want: "yaml: line 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			config := configFor(t, test.script)
			_, err := newAgent(t, config).Check(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), config.Script) {
				t.Errorf("Check = %v, want %q", err, test.want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]replay.Config{
		"needs a name":         {Program: []string{"/x"}, Script: "/s"},
		"absolute path":        {Name: "a", Program: []string{"x"}, Script: "/s"},
		"is not an absolute":   {Name: "a", Program: []string{"/x"}, Script: "s"},
		"program [] does not ": {Name: "a", Script: "/s"},
	} {
		if _, err := replay.New(config); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New(%+v) = %v, want %q", config, err, name)
		}
	}
}

func TestSandboxIsShownProgramAndScript(t *testing.T) {
	t.Parallel()
	config := configFor(t, "entries: [{do: [{answer: x}]}]")
	var got process.Command
	observed := process.Host{Observe: func(c process.Command, _ process.Result) { got = c }}
	var log strings.Builder
	_, err := newAgent(t, config).Run(t.Context(), agent.Task{Dir: t.TempDir(), Log: &log}, observed)
	if err != nil || !slices.Equal(got.Reads, []string{config.Program[0], config.Script}) {
		t.Errorf("Reads = %q, %v", got.Reads, err)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read is the file's text, empty if there is none.
func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}
