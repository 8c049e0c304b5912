package cli_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
	"signalbox/internal/environment/egress"
	"signalbox/internal/session"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == egress.EnterName {
		egress.Enter(context.Background(), os.Args[1:])
	}
	if filepath.Base(os.Args[0]) == containerUse {
		serveContainerUse()
		return
	}
	if filepath.Base(os.Args[0]) == session.HostName {
		os.Exit(session.Host(context.Background(), os.Args[1:], cli.SessionHost()))
	}
	if _, said := os.LookupEnv("SIGNALBOX_TRUST"); !said { // what is agreed to is a story of its own
		_ = os.Setenv("SIGNALBOX_TRUST", "1")
	}
	testscript.Main(tests{m}, map[string]func(){
		"signalbox": func() { os.Exit(cli.Main(context.Background(), os.Args[1:], command.System())) },
	})
}

// tests are all tests, with folders of their own that end with them.
type tests struct{ *testing.M }

func (m tests) Run() int {
	dir, err := os.MkdirTemp("", "signalbox-tests-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build.dir = filepath.Join(dir, "program")
	if os.Getenv("XDG_STATE_HOME") == "" { // the state of whoever runs the tests is left alone
		_ = os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	}
	code := m.M.Run()
	if err := stopGitea(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Each file in testdata/script is a story of one person and one repository.
func TestScripts(t *testing.T) {
	t.Parallel()
	// Without the race detector to watch it, the program itself starts in half the time of this test, which has all that tests import.
	path, compiled := os.Getenv("PATH"), goEnv(t, "GOCACHE")
	if !raced() {
		path = filepath.Dir(program(t)) + string(os.PathListSeparator) + path
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits, "serve": serveFolder,
	}, Setup: func(env *testscript.Env) error {
		env.Defer(func() { unmountBelow(env.WorkDir) })
		env.Defer(func() { endSessions(env.WorkDir) })
		env.Setenv("PATH", path)
		env.Setenv("GOCACHE", compiled)
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("XDG_STATE_HOME", env.WorkDir+"-state")
		env.Setenv("SIGNALBOX_TRUST", "1") // what is agreed to is a story of its own
		env.Setenv("GIT_AUTHOR_NAME", "Ada")
		env.Setenv("GIT_AUTHOR_EMAIL", "ada@localhost")
		env.Setenv("GIT_COMMITTER_NAME", "Ada")
		env.Setenv("GIT_COMMITTER_EMAIL", "ada@localhost")
		env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's children would each wait a second at their end
		return nil
	}})
}

func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// exits runs a program and wants exactly the exit code of its first argument.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// serveFolder serves a folder by HTTP until the script ends, and sets a variable to the server's host and port.
func serveFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve VARIABLE FOLDER")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[1]))))
	ts.Defer(server.Close)
	ts.Setenv(args[0], strings.TrimPrefix(server.URL, "http://"))
}

var build struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// program is the real binary, built once without the race detector, for tests
// that kill it or measure it.
func program(t testing.TB) string {
	t.Helper()
	build.once.Do(func() {
		if build.err = os.Mkdir(build.dir, 0o700); build.err != nil {
			return
		}
		build.path = filepath.Join(build.dir, "signalbox")
		compile := exec.Command("go", "build", "-o", build.dir, "signalbox/cmd/signalbox", "signalbox/cmd/signalbox-docker", "signalbox/cmd/signalbox-mcp", "signalbox/cmd/signalbox-serve", "signalbox/cmd/signalbox-tui")
		compile.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
		out, err := compile.CombinedOutput()
		if err != nil {
			build.err = &exec.Error{Name: string(out), Err: err}
		}
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	return build.path
}
