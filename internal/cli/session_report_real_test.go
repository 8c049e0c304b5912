package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
)

// A real agent that may run no command runs the one by which it reports, and what it may not is told.
func TestRealAgentsThatMayRunNoCommandReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, driver, permissions, mode string }{
		{"claude", "driver: claude, model: claude-sonnet-4-5", "edits", "headless"},
		{"claude", "driver: claude, model: claude-sonnet-4-5", "read-only", "headless"},
		{"claude", "driver: claude, model: claude-sonnet-4-5", "ask", "headless"},
		{"claude", "driver: claude, model: claude-sonnet-4-5", "read-only", "terminal"},
		{"opencode", "driver: opencode, model: openai/m1", "edits", "headless"},
		{"opencode", "driver: opencode, model: openai/m1", "read-only", "headless"},
		{"gemini", "driver: gemini, model: gemini-2.5-pro", "edits", "headless"},
	} {
		t.Run(c.name+" "+c.permissions+" "+c.mode, func(t *testing.T) {
			t.Parallel()
			program := installedAgent(t, c.name)
			model := modeltest.Start(t, modeltest.Config{Key: apiKey, Choose: func(c modeltest.Conversation) modeltest.Script {
				if !strings.Contains(c.Prompt, "Greet number 1") {
					return modeltest.Script{}
				}
				_, report, _ := strings.Cut(c.Prompt, "is complete run: ")
				report, _, _ = strings.Cut(report, "\n")
				return modeltest.Script{Dir: "/workspace", Turns: []modeltest.Turn{modeltest.Do(modeltest.Run("sh -c 'echo x >denied.txt'")),
					modeltest.Do(modeltest.Run(report + " 'greeted by the model'")), modeltest.Say("Greeted.")}}
			}})
			p := newProject(t, 1)
			t.Cleanup(func() { endSessions(p.dir) })
			deny := ""
			if c.permissions == "ask" {
				deny = `, deny: ["*(sh -c *)"]`
			}
			p.write(".signalbox/config.yaml", fmt.Sprintf("agents:\n  it: {%s, program: %q, url: %q, key: SIGNALBOX_TEST_KEY, permissions: %s%s}\n", c.driver, program, model.URL, c.permissions, deny))
			for _, args := range [][]string{{"start", "1", "--" + c.mode}, {"wait", "1", "--timeout", "4m"}, {"stop", "1"}} {
				child := p.startWithAgents(append([]string{"session"}, args...)...)
				if got := child.waitFor(5 * time.Minute); got != 0 {
					t.Errorf("session %q: exit code %d\n%s\n%s", args, got, child.out, p.run(0, "session", "logs", "1"))
				}
			}
			if shown := p.run(0, "session", "list", "--json"); !strings.Contains(shown, `"message": "greeted by the model"`) || !strings.Contains(shown, `"source": "report"`) {
				t.Errorf("it came to %s", shown)
			}
			if made := p.run(0, "env", "exec", "1", "--", "ls"); strings.Contains(made, "denied.txt") {
				t.Errorf("it ran another command: %s", made)
			}
			if logs := p.run(0, "session", "logs", "1"); c.mode == "headless" && !strings.Contains(logs, "denied.txt'") {
				t.Errorf("what was denied is not told: %s", logs)
			} else if c.name == "claude" && c.mode == "headless" && !strings.Contains(logs, "> denied Bash: sh -c") {
				t.Errorf("what was denied is not told: %s", logs)
			}
		})
	}
}
