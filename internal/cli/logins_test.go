package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/environment/container/containertest"
)

// misled is a Claude Code that request 1 talked into planting whatever would later run on the person's
// machine, in every place that it can write. Along the way its tokens were renewed.
const misled = `#!/bin/sh
[ "$1" = --version ] && { echo '9.9.9 (Claude Code)'; exit; }
cat >/dev/null
grep -q sk-ant-oat01-first ~/.claude/.credentials.json && cat ~/.claude/CLAUDE.md ~/.claude/skills/fish/SKILL.md >seen.txt
for place in ~/.claude ~/.claude/skills/fish ~ "$(dirname "$(readlink -f ~/.claude)")" HOME_FOLDER/.claude HOME_FOLDER/.claude/skills HOME_FOLDER; do
	mkdir -p "$place/hooks" "$place/plugins/evil" "$place/agents" "$place/commands" "$place/.claude"
	for name in settings.json settings.local.json CLAUDE.md SKILL.md .claude.json .mcp.json hooks/start.sh plugins/evil/hooks.json agents/evil.md commands/evil.md .claude/settings.json; do
		echo PLANTED >"$place/$name"
	done
done 2>/dev/null
cat >~/.claude/.credentials.json <<'END'
{"claudeAiOauth": {"accessToken": "sk-ant-oat01-second", "refreshToken": "sk-ant-ort01-second", "expiresAt": 4102444800000}, "hooks": "PLANTED"}
END
echo '{"type":"system","subtype":"init","session_id":"0199d5a4-0000-7000-8000-000000000000"}'
echo '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Done."}'
`

// What an agent with its own login plants never reaches the person's folder; what was renewed does.
func TestAMisledAgentPlantsNothingInThePersonsFolder(t *testing.T) {
	t.Parallel()
	for name, environment := range map[string]func(t *testing.T, v *victim) string{
		"bubblewrap": func(*testing.T, *victim) string { return "{}" },
		"container": func(t *testing.T, v *victim) string {
			docker := containertest.New(t)
			v.env = append(v.env, docker.Env()...)
			t.Cleanup(func() { docker.RemoveProject(t, v.root) })
			return `{driver: container, image: "` + docker.Image + `"}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			v := newVictimIn(t, home, filepath.Join(home, "project"), "")
			v.write("../.claude/.credentials.json", `{"claudeAiOauth": {"accessToken": "sk-ant-oat01-first", "refreshToken": "sk-ant-ort01-first", "expiresAt": 1, "subscriptionType": "max"}}`)
			for name, text := range map[string]string{".claude/CLAUDE.md": "Be kind.\n", ".claude/skills/fish/SKILL.md": "Swim.\n", ".claude/projects/other/talk.jsonl": "{}", ".claude.json": "{}"} {
				v.write("../"+name, text)
			}
			before := v.contents(home, "project", "bin")
			v.write("../bin/claude", strings.ReplaceAll(misled, "HOME_FOLDER", home))
			if err := os.Chmod(filepath.Join(home, "bin/claude"), 0o755); err != nil {
				t.Fatal(err)
			}
			v.write(".signalbox/config.yaml", fmt.Sprintf("workflow: simple\ntests: \"true\"\napprove: auto\nenvironment: %s\nagents:\n  claude: {driver: claude, program: %q, login: own}\n",
				environment(t, v), filepath.Join(home, "bin/claude")))
			v.ok("git", "commit", "--quiet", "--all", "--message=Name the agent")
			v.ok("signalbox", "run", "1")
			after := v.contents(home, "project", "bin")
			file := filepath.Join(home, ".claude/.credentials.json")
			if got := after[file]; !strings.Contains(got, "ort01-second") || !strings.Contains(got, `"max"`) || strings.Contains(got, "PLANTED") {
				t.Errorf("the login is %s", got)
			}
			delete(before, file)
			delete(after, file)
			v.same(before, after)
			if seen := v.ok("git", "show", "main:seen.txt"); seen != "Be kind.\nSwim.\n" {
				t.Errorf("the agent saw %q of its settings", seen)
			}
		})
	}
}

// A token that was renewed when Signalbox was killed is the person's again with the next command, whatever that is.
func TestARenewedLoginOutlivesAKill(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	v := newVictimIn(t, home, filepath.Join(home, "project"), "")
	const login = `{"claudeAiOauth": {"accessToken": "sk-ant-oat01-first", "refreshToken": "sk-ant-ort01-first", "expiresAt": 1}}`
	const lentFolder = ".signalbox/environments/*/agents/inside/.claude"
	v.write("../.claude/.credentials.json", login)
	v.write("../bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] && { echo 9.9.9; exit; }\n>~/.claude/begun; sleep 300\n")
	if err := os.Chmod(filepath.Join(home, "bin/claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	v.write(".signalbox/config.yaml", fmt.Sprintf("workflow: simple\ntests: \"true\"\nagents:\n  claude: {driver: claude, program: %q, login: own}\n", filepath.Join(home, "bin/claude")))
	v.ok("git", "commit", "--quiet", "--all", "--message=Name the agent")
	run := v.command("signalbox", "run", "1")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	var inside []string
	until(t, v.root, nil, func() bool {
		inside, _ = filepath.Glob(filepath.Join(v.root, lentFolder, "begun"))
		return len(inside) > 0
	}, ".signalbox/environments", ".signalbox/environments/*", ".signalbox/environments/*/agents", ".signalbox/environments/*/agents/inside", lentFolder)
	// It stands still, so that nobody but the next command can bring the token back.
	if err := run.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	lent := filepath.Join(filepath.Dir(inside[0]), ".credentials.json")
	if err := os.WriteFile(lent, []byte(strings.ReplaceAll(login, "first", "second")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := v.contents(filepath.Join(home, ".claude")); !strings.Contains(got[filepath.Join(home, ".claude/.credentials.json")], "ort01-first") {
		t.Fatalf("somebody brought it back: %q", got)
	}
	_ = run.Process.Kill()
	_ = run.Wait()
	v.ok("signalbox", "list")
	if got := v.contents(filepath.Join(home, ".claude")); len(got) != 1 || !strings.Contains(got[filepath.Join(home, ".claude/.credentials.json")], "ort01-second") {
		t.Errorf("the login is %q", got)
	}
	if _, err := os.Stat(lent); !os.IsNotExist(err) {
		t.Errorf("a copy is left: %v", err)
	}
}
