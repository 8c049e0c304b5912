package gitlab

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// trace writes a log as GitLab's runner does: {a opens a section, }a closes it.
func trace(text string) string {
	return regexp.MustCompile(`([{}])(\w+(?:\[.*?\])?);`).ReplaceAllStringFunc(text, func(mark string) string {
		kind := map[byte]string{'{': "start", '}': "end"}[mark[0]]
		return fmt.Sprintf("\x1b[0Ksection_%s:1764158400:%s\r\x1b[0K", kind, mark[1:len(mark)-1])
	})
}

func TestALogHasWhatTheScriptPrinted(t *testing.T) {
	t.Parallel()
	const limit = 100
	for _, c := range []struct{ name, trace, want string }{
		{"the runner's own parts are left out", "{prepare_executor;Using x\n}prepare_executor;{get_sources;cloned\n}get_sources;{step_script;\x1b[0;m$ make\nFAIL\n}step_script;{after_script;bye\n}after_script;\x1b[31;1mERROR: Job failed: exit code 1\x1b[0;m\n",
			"step_script> $ make|FAIL|ERROR: Job failed: exit code 1"},
		{"an older runner's name is known", "{build_script;FAIL\n}build_script;", "build_script> FAIL"},
		{"open sections are named", "{step_script;{lint[collapsed=true];Lint\nok\n}lint;{test;FAIL\n}step_script;", "step_script / test> Lint|ok|FAIL"},
		{"the script's own end of the script hides nothing", "{step_script;one\n}step_script;two\nFAIL\n}step_script;{cleanup;bye\n", "step_script> one|two|FAIL"},
		{"nor does its own beginning", "{step_script;one\n{step_script;FAIL\n}step_script;", "step_script> one|FAIL"},
		{"no more than five open sections are named", "{step_script;{a;{b;{c;{d;{e;{f;FAIL\n}step_script;", "step_script / a / b / c / d / e> FAIL"},
		{"a job that was cut off has the end so far", "{step_script;one\ntwo", "step_script> one|two"},
		{"a script that never began leaves the end of the log", "{get_sources;no such branch\n}get_sources;ERROR: Job failed: exit code 1", "> no such branch|ERROR: Job failed: exit code 1"},
		{"times of lines are left out, and parts of lines joined", "2026-11-26T12:00:00.000000Z 00O {step_script;\n2026-11-26T12:00:00.000000Z 01O FA\n2026-11-26T12:00:00.000000Z 01O+IL\n2026-11-26T12:00:00.000000Z 01E at x\n}step_script;", "step_script> FAIL|at x"},
		{"only the end is kept", "{step_script;" + strings.Repeat("noise\n", 400_000/6) + strings.Repeat("x", limit-2) + "\n}step_script;bye\n", "step_script> …" + strings.Repeat("x", limit-2)},
		{"a mark that is none is text", "{step_script;section_start:x:y\rz\n}step_script;", "step_script> section_start:x:y|z"},
		{"an empty log is none", "", ""},
	} {
		found, err := traced(strings.NewReader(trace(c.trace)), limit)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range found {
			got += s.Step + "> " + strings.ReplaceAll(s.Text, "\n", "|")
		}
		if got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
