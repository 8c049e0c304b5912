package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
)

// realSessions are the ways in which a real agent may have to report. A session without a terminal, of an agent that may do everything, is
// TestASubscriptionServesASession's; opencode at a terminal, likewise, is TestAFileOfTheRepositoryCompletesNoSession's.
var realSessions = []struct{ name, driver, permissions, mode string }{
	{"claude", realAgents["claude"], "everything", "terminal"},
	{"codex", realAgents["codex"], "everything", "terminal"},
	{"pi", realAgents["pi"], "everything", "terminal"},
	{"gemini", realAgents["gemini"], "everything", "terminal"},
	{"claude", realAgents["claude"], "edits", "headless"},
	{"claude", realAgents["claude"], "read-only", "headless"},
	{"claude", realAgents["claude"], "ask", "headless"},
	{"claude", realAgents["claude"], "read-only", "terminal"},
	{"opencode", "driver: opencode, model: openai/m1", "edits", "headless"},
	{"opencode", "driver: opencode, model: openai/m1", "read-only", "terminal"},
	{"gemini", "driver: gemini, model: gemini-2.5-pro", "edits", "headless"},
}

// Each real agent reports through our own program inside the sandbox, while its key stays outside: at its own interface
// and without anybody, and also where it may run no other command, of which what it tried is told.
func TestRealAgentsReportFromTheirSessions(t *testing.T) {
	t.Parallel()
	for _, c := range realSessions {
		t.Run(c.name+" "+c.permissions+" "+c.mode, func(t *testing.T) {
			t.Parallel()
			it, environment := realAgent(t, c.name, c.driver)
			model := modeltest.Start(t, modeltest.Config{Key: apiKey, Choose: func(c modeltest.Conversation) modeltest.Script {
				if !strings.Contains(c.Prompt, "Greet number 1") {
					return modeltest.Script{}
				}
				_, report, _ := strings.Cut(c.Prompt, "is complete run: ")
				report, _, _ = strings.Cut(report, "\n")
				return modeltest.Script{Dir: "/workspace", Turns: []modeltest.Turn{modeltest.Do(modeltest.Run("sh -c 'echo x >other.txt'")),
					modeltest.Do(modeltest.Run(report + " 'greeted by the model'")), modeltest.Say("Greeted.")}}
			}})
			p := newProject(t, 1)
			t.Cleanup(func() { endSessions(p.dir) })
			deny := ""
			if c.permissions == "ask" {
				deny = `, deny: ["*(sh -c *)"]`
			}
			p.write(".signalbox/config.yaml", fmt.Sprintf("environment: %s\nagents:\n  it: %s, url: %q, key: SIGNALBOX_TEST_KEY, permissions: %s%s}\n", environment, it, model.URL, c.permissions, deny))
			for _, args := range [][]string{{"start", "1", "--" + c.mode}, {"wait", "1", "--timeout", "4m"}, {"stop", "1"}} {
				child := p.startWithAgents(append([]string{"session"}, args...)...)
				if got := child.waitFor(5 * time.Minute); got != 0 {
					t.Errorf("session %q: exit code %d\n%s\n%s", args, got, child.out, p.run(0, "session", "logs", "1"))
				}
			}
			if shown := p.run(0, "session", "list", "--json"); !strings.Contains(shown, `"message": "greeted by the model"`) || !strings.Contains(shown, `"source": "report"`) {
				t.Errorf("it came to %s", shown)
			}
			for _, x := range model.Exchanges() {
				if x.Key != apiKey {
					t.Errorf("a request came with the key %q", x.Key)
				}
			}
			p.mustHaveDeniedTheRest(c.name, c.permissions, c.mode)
		})
	}
}

// mustHaveDeniedTheRest wants the agent's other command to have run only where it may do everything, and to be told where it was denied.
func (p *project) mustHaveDeniedTheRest(name, permissions, mode string) {
	p.Helper()
	if made := strings.Contains(p.run(0, "env", "exec", "1", "--", "ls"), "other.txt"); made != (permissions == "everything") {
		p.Errorf("with permissions %q, that it ran another command is %t", permissions, made)
	}
	if mode != "headless" {
		return
	}
	denied := "other.txt'"
	if name == "claude" {
		denied = "> denied Bash: sh -c"
	}
	if logs := p.run(0, "session", "logs", "1"); !strings.Contains(logs, denied) {
		p.Errorf("what was denied is not told: %s", logs)
	}
}
