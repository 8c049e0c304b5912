package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallKeepsWhatElseIsInTheFile(t *testing.T) {
	t.Parallel()
	entry := Entry{Program: "/opt/sign box/signalbox", Args: []string{"mcp"}}
	for _, c := range []struct{ client, file, before, after string }{
		{"claude", ".mcp.json", "", "{\n  \"mcpServers\": {\n    \"signalbox\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/sign box/signalbox\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"},
		{"gemini", ".gemini/settings.json", `{"z": 1.50, "mcpServers": {"other": {"command": "x"}}, "a": []}`,
			"{\n  \"z\": 1.50,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    },\n    \"signalbox\": {\n      \"command\": \"/opt/sign box/signalbox\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  },\n  \"a\": []\n}\n"},
		{"opencode", "opencode.json", `{"mcp": {"signalbox": {"type": "remote"}}}`, `{"mcp": {"signalbox": {"type": "remote"}}}`},
		{"codex", "codex/config.toml", "model = \"o\"", "model = \"o\"\n\n[mcp_servers.signalbox]\ncommand = \"/opt/sign box/signalbox\"\nargs = [\"mcp\"]\n"},
		{"codex", "codex/config.toml", "[ mcp_servers . signalbox ] # mine\n", "[ mcp_servers . signalbox ] # mine\n"},
	} {
		dir := t.TempDir()
		env := func(name string) string { return map[string]string{"CODEX_HOME": filepath.Join(dir, "codex")}[name] }
		file := filepath.Join(dir, c.file)
		if c.before != "" {
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		done, err := Install(dir, c.client, env, entry)
		if after, _ := os.ReadFile(file); err != nil || string(after) != c.after || done.Written != (c.before != c.after) {
			t.Errorf("%s with %q: %+v, %v:\n%s", c.client, c.before, done, err, after)
		}
		if info, _ := os.Stat(file); c.before != "" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the mode is %s", c.client, info.Mode())
		}
		if again, err := Install(dir, c.client, env, entry); err != nil || again.Written {
			t.Errorf("%s again: %+v, %v", c.client, again, err)
		}
	}
}

func TestInstallLeavesAFileThatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"{\n  // mine\n}", "[]", `{"servers": []}`, `{} {}`, `{"a": 1,}`} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".vscode", "mcp.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(before), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Install(dir, "vscode", os.Getenv, Entry{Program: "signalbox", Args: []string{"mcp"}})
		if after, _ := os.ReadFile(file); err == nil || string(after) != before {
			t.Errorf("%q becomes %q, with %v", before, after, err)
		}
	}
	if _, err := Install(t.TempDir(), "emacs", os.Getenv, Entry{}); err == nil || !strings.Contains(err.Error(), "no known client") {
		t.Errorf("an unknown client: %v", err)
	}
}
