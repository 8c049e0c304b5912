package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/process"
)

// However the failure is reported, the message says where this machine has the program.
func TestAProgramThatIsNotSeenInsideIsNamedByItsPlaceHere(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	place := func(name, text string) string {
		path := filepath.Join(bin, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	node, tool := place("node", "\x7fELF"), place("tool", "#!/usr/bin/env node\n")
	p := Program{Agent: "a", Args: []string{"/bin/sh"}, Env: []string{"PATH=" + bin + ":/usr/bin:/bin"}}
	for said, want := range map[string]string{
		"sh: 1: exec: " + node + ": not found":                                node,
		"sh: 1: exec: " + node + ": Permission denied":                        node,
		"env: ‘node’: No such file or directory":                              node,
		"/usr/bin/env: 'node': No such file or directory":                     node,
		"env: can't execute 'node': No such file or directory":                node,
		"agent.sh: line 3: node: command not found":                           node,
		"bash: " + tool + ": " + node + ": bad interpreter: No such file":     node,
		"bash: line 1: " + tool + ": cannot execute: required file not found": node,
		"sh: 1: exec: " + tool + ": not found":                                node, // the interpreter is what is missing
		`start "` + node + `": No such file or directory`:                     node,
		"agent.sh: 1: sh: not found":                                          "", // every environment has its own
		"agent.sh: 1: ./node: not found":                                      "",
		"agent.sh: 1: nobody-has-this: not found":                             "",
	} {
		for _, code := range []int{126, 127} {
			f := p.endOf(Task{}, process.Result{Ending: process.Exited, ExitCode: code}, said)
			if f.Code != Unavailable || strings.Contains(f.Message, "environment.read") != (want != "") || !strings.Contains(f.Message, want) {
				t.Errorf("%q: %+v, want %q", said, *f, want)
			}
		}
	}
}
