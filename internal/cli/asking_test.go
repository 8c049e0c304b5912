package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
)

// askingAgents are the real programs that can ask, with what the configuration says of each and its own
// name of what writes a file.
var askingAgents = map[string][2]string{
	"claude": {"driver: claude, model: claude-sonnet-4-5", "Write"},
	"codex":  {"driver: codex, model: gpt-5.5, prices: {gpt-5.5: {input: 3, output: 15}}", "file_change"},
}

// The model wants a file, which the rules allow, and two commands that they do not: a person allows
// one and denies the other, and the change is what was allowed.
func TestARealAgentIsAnsweredByAPerson(t *testing.T) {
	t.Parallel()
	for name, says := range askingAgents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := installedAgent(t, name)
			model := modeltest.Start(t, modeltest.Config{Key: apiKey, Choose: wantsMore})
			p := newProject(t, 1)
			p.write(".signalbox/config.yaml", fmt.Sprintf("workflow: simple\ntests: \"true\"\napprove: auto\nagents:\n"+
				"  it: {%s, program: %q, url: %q, key: SIGNALBOX_TEST_KEY, permissions: ask, allow: [%s]}\n", says[0], program, model.URL, says[1]))
			p.git("commit", "--quiet", "-am", "Name the agent")
			c := p.startWithAgents("run", "1")
			p.answers(c, "Q1", "allowed.txt", "--allow")
			p.answers(c, "Q2", "denied.txt", "--deny", "Not that one.")
			if got := c.waitFor(5 * time.Minute); got != 0 {
				p.tellTranscripts()
				p.Fatalf("exit code %d\n%s", got, c.out)
			}
			if got := p.git("ls-tree", "--name-only", "main"); !strings.Contains(got, "allowed.txt") || !strings.Contains(got, "written.txt") || strings.Contains(got, "denied.txt") {
				p.tellTranscripts()
				t.Errorf("the change has\n%s", got)
			}
			p.mustHaveUsed(model)
		})
	}
}

func wantsMore(c modeltest.Conversation) modeltest.Script {
	last := modeltest.Say("It is done.")
	if strings.Contains(c.Prompt, "Not that one.") { // some agents are told so in a prompt
		return modeltest.Script{Turns: []modeltest.Turn{last}}
	}
	return modeltest.Script{Dir: "/workspace", Turns: []modeltest.Turn{
		modeltest.Do(modeltest.Write("written.txt", "written\n")),
		modeltest.Do(modeltest.Run("sh -c 'echo allowed >allowed.txt'")),
		modeltest.Do(modeltest.Run("sh -c 'echo denied >denied.txt'")),
		last,
	}}
}

// answers waits for a question, and has it answered.
func (p *project) answers(c *child, id, about string, answer ...string) {
	p.Helper()
	asked := func() bool { q := p.stage(1).Details.Question; return q != nil && q.ID == id }
	if !c.until(asked) {
		p.tellTranscripts()
		p.Fatalf("the run ended without asking %s\n%s", id, c.out)
	}
	if shown := p.run(0, "status", "1"); !strings.Contains(shown, "signalbox answer 1 --allow") || !strings.Contains(shown, about) {
		p.Errorf("status does not show the question:\n%s", shown)
	}
	p.run(0, append([]string{"answer", "1"}, answer...)...)
}
