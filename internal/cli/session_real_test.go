package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
)

// Each agent works at its own interface as its real program does, one of them without anybody, too,
// and reports through our own program inside the sandbox, while its key stays outside.
func TestRealAgentsReportFromTheirSessions(t *testing.T) {
	t.Parallel()
	for name, driver := range realAgents {
		for _, mode := range []string{"terminal", "headless"} {
			if mode == "headless" && name != "claude" {
				continue // as in a run
			}
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				program := installedAgent(t, name)
				model := modeltest.Start(t, modeltest.Config{Key: apiKey, Choose: func(c modeltest.Conversation) modeltest.Script {
					if !strings.Contains(c.Prompt, "Greet number 1") {
						return modeltest.Script{}
					}
					_, report, _ := strings.Cut(c.Prompt, "is complete run: ")
					report, _, _ = strings.Cut(report, "\n")
					return modeltest.Script{Dir: "/workspace", Turns: []modeltest.Turn{modeltest.Do(modeltest.Run(report + " 'greeted by the model'")), modeltest.Say("Greeted.")}}
				}})
				p := newProject(t, 1)
				t.Cleanup(func() { endSessions(p.dir) })
				p.write(".signalbox/config.yaml", fmt.Sprintf("agents:\n  it: {%s, program: %q, url: %q, key: SIGNALBOX_TEST_KEY}\n", driver, program, model.URL))
				for _, args := range [][]string{{"start", "1", "--" + mode}, {"wait", "1", "--timeout", "4m"}, {"stop", "1"}} {
					c := p.startWithAgents(append([]string{"session"}, args...)...)
					if got := c.waitFor(5 * time.Minute); got != 0 {
						t.Errorf("session %q: exit code %d\n%s\n%s", args, got, c.out, p.run(0, "session", "logs", "1"))
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
			})
		}
	}
}
