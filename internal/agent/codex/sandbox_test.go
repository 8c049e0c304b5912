package codex_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
	"signalbox/internal/process/processtest"
)

// Output of the real program within another sandbox, and below /tmp.
const (
	noNamespace = "bwrap: setting up uid map: Operation not permitted"
	noHelper    = "bwrap: execvp codex-linux-sandbox: No such file or directory"
)

func TestPermissionsThatNeedASandboxWhereNoneCanBeMade(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		permissions agent.Permissions
		sandbox     string // what it prints of its sandbox before it exits with 1
		want        agent.FailureCode
	}{
		{name: "looking", permissions: agent.ReadOnly, sandbox: noNamespace, want: agent.Unavailable},
		{name: "editing", permissions: agent.Edits, sandbox: noNamespace, want: agent.Unavailable},
		{name: "everything needs none", permissions: agent.Everything, sandbox: noNamespace},
		{name: "another failure says nothing", permissions: agent.ReadOnly, sandbox: noHelper},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "codex")
			script := "#!/bin/sh\n[ \"$1\" = exec ] || { echo '" + test.sandbox + "' >&2; exit 1; }\ncat <<'END'\n" + begins + says + ends + "END\n"
			if err := processtest.WriteProgram(program, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			a := driver.Make(t, agent.Settings{Name: "c", Program: program, Permissions: test.permissions, Env: []string{"PATH=/usr/bin:/bin"}})
			var log strings.Builder
			result, err := a.Run(t.Context(), agent.Task{Role: "reviewer", Dir: t.TempDir(), Log: &log, Total: time.Minute, OutputLimit: 1 << 20}, process.Host{})
			if err != nil {
				t.Fatal(err)
			}
			agenttest.CheckFailure(t, result, test.want, `set them to "everything"`)
			if failed := test.want != ""; failed != (log.Len() == 0) || failed == (result.Answer == "Done.") {
				t.Errorf("answer %q, log %q", result.Answer, log.String())
			}
		})
	}
}
