package layering_test

import (
	"strings"
	"testing"
)

func TestTheLayerTestNoticesBrokenRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, code, want string
	}{
		{"what is allowed", "internal/perform/x.go", `import "m/internal/engine"`, ""},
		{"an action that knows where documents are", "internal/perform/x.go", `import "m/internal/store"`, "allows perform only"},
		{"a pattern compiled late, anywhere", "internal/redact/x.go", `import "m/internal/lazy"`, ""},
		{"a driver's port", "internal/agent/claude/x.go", `import "m/internal/agent"`, ""},
		{"a package without a row", "internal/queue/x.go", ``, "not in the layer table"},
		{"a package that says nothing", "internal/agent/util/x.go", ``, "says nothing"},
		{"code in internal itself", "internal/x.go", ``, "a package of its own"},
		{"a package below that knows one above", "internal/store/x.go", `import "m/internal/perform"`, "allows store only"},
		{"a sibling driver", "internal/agent/claude/x.go", `import "m/internal/agent/codex"`, "named by wire only"},
		{"a sibling driver that its row names", "internal/environment/container/x.go", `import "m/internal/environment/clone"`, ""},
		{"a driver named by the perform", "internal/perform/x.go", `import "m/internal/forge/local"`, "named by wire only"},
		{"a driver named by wire", "internal/wire/x.go", `import "m/internal/forge/local"`, ""},
		{"a suite outside of tests", "internal/cli/x.go", `import "m/internal/forge/forgetest"`, "is for tests"},
		{"a suite in a test", "internal/forge/local/x_test.go", `import "m/internal/forge/forgetest"`, ""},
		{"a face that knows another", "internal/web/x.go", `import "m/internal/tui"`, "faces never"},
		{"the command line, beside the command that starts the face", "internal/cli/run/x.go", `import "m/internal/web"`, "faces never"},
		{"the same in a test", "internal/web/x_test.go", `import "m/internal/tui"`, "faces never"},
		{"a file in the judgement", "internal/workflow/x.go", `import "os"`, "arguments alone"},
		{"chance in the judgement", "internal/workflow/x.go", `import "math/rand"`, "arguments alone"},
		{"a clock in the judgement", "internal/workflow/x.go", "import \"time\"\nvar now = time.Now", "told the time"},
		{"a clock under another name", "internal/store/x.go", "import tm \"time\"\nvar now = tm.Now()", "clock is injected"},
		{"a clock as the one that is injected", "internal/store/x.go", "import \"time\"\nvar now = time.Now", ""},
		{"a clock where durations are measured", "internal/process/x.go", "import \"time\"\nvar now = time.Now()", ""},
		{"a context out of nothing", "internal/git/x.go", "import \"context\"\nvar c = context.Background()", "comes from the caller"},
		{"a context to be done", "internal/cli/x.go", "import \"context\"\nvar c = context.TODO()", "comes from the caller"},
		{"an init's context, which is a program's", initProgram, "import \"context\"\nfunc init() { context.Background() }", ""},
		{"the same beside it", "internal/environment/clone/x.go", "import \"context\"\nfunc init() { context.Background() }", "comes from the caller"},
		{"a clock in that program", initProgram, "import \"time\"\nfunc init() { time.Now() }", "clock is injected"},
		{"main's context", "cmd/signalbox/main.go", "import \"context\"\nvar c = context.Background()", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := parsed(test.file, []byte("package x\n"+test.code))
			if err != nil {
				t.Fatal(err)
			}
			told := strings.Join(s.problems("m"), "\n")
			if test.want == "" && told != "" || !strings.Contains(told, test.want) {
				t.Errorf("told %q, want %q", told, test.want)
			}
		})
	}
}
