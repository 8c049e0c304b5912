package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"signalbox/internal/agent/modeltest"
)

// threeTimes asks its model three times, tells what was answered as Claude Code does, where it is to, and waits.
const threeTimes = `#!/bin/sh
[ "$1" = --version ] && { echo "9.9.9 (Claude Code)"; exit; }
for n in 1 2 3; do
	curl -sS -f -o /dev/null -H "x-api-key: $ANTHROPIC_API_KEY" -H 'content-type: application/json' \
		-d '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}' "$ANTHROPIC_BASE_URL/v1/messages"
done
%s
touch "$(dirname "$0")/asked"
exec sleep 86397.8
`

// What a call used is saved after each answer, so that a kill loses none, and once more when it is stopped.
func TestACallThatIsCutOffCountsAllItsAnswers(t *testing.T) {
	t.Parallel()
	for name, tells := range map[string]string{
		"stopped": ":",
		"killed":  `echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Yes."}]}}'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := modeltest.Start(t, modeltest.Config{Key: apiKey, Script: modeltest.Script{
				Turns: []modeltest.Turn{{Say: "Yes.", Usage: modeltest.Usage{Input: 100, Output: 20}}}}})
			p := newProject(t, 1)
			dir := t.TempDir()
			program := filepath.Join(dir, "agent")
			if err := os.WriteFile(program, fmt.Appendf(nil, threeTimes, tells), 0o755); err != nil {
				t.Fatal(err)
			}
			p.write(".signalbox/config.yaml", fmt.Sprintf("environment: {sandbox: none}\nagents:\n  it: {driver: claude, program: %q, url: %q, key: SIGNALBOX_TEST_KEY}\n", program, model.URL))
			p.git("commit", "--quiet", "-am", "Name the agent")
			c := p.startWithAgents("run", "1")
			counted := func() int64 { run := p.stage(1); return run.SpentSoFar().Tokens() }
			if name == "stopped" {
				until(t, dir, nil, func() bool { _, err := os.Stat(filepath.Join(dir, "asked")); return err == nil })
				c.signal(syscall.SIGINT)
			} else if !c.until(func() bool { return counted() == 360 }) {
				t.Errorf("saved while it works: %d tokens, want 360", counted())
			} else {
				c.signal(syscall.SIGKILL)
			}
			c.wait()
			if got := counted(); got != 360 {
				t.Errorf("%d tokens, want 360\n%s", got, c.out)
			}
		})
	}
}
