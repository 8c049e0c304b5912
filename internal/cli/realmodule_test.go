package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// broken is a module that people use, with a bug put in by hand.
type broken struct {
	module, file, right, wrong string
	title, wish                string
	environment                string // of the configuration
}

// The request is all that the agent is told; its script does what a person would answer to it.
const mender = `#!/bin/sh
set -eu
grep -q '%[1]s' || { echo "this is not my request" >&2; exit 1; }
sed -i 's/%[2]s/%[3]s/' %[4]s
echo "%[4]s is as it was meant."
`

// Its dependencies come from the user's cache; TestRealProjectsAreSetUpByWhatTheirFilesSay has them downloaded.
func TestABugInARealModuleIsFixedAndMerged(t *testing.T) {
	t.Parallel()
	modules, compiled := goEnv(t, "GOMODCACHE"), goEnv(t, "GOCACHE") // what the tests compile here is not compiled again there
	b := broken{module: "github.com/fatih/color@v1.19.0", file: "color.go",
		right: "if len(c.params) != len(c2.params) {", wrong: "if len(c.params) == len(c2.params) {",
		title: "Tell equal colors from others", wish: "Equals says that black differs from black.",
		environment: fmt.Sprintf("environment: {read: [%q, %q], variables: [%q, %q, %q, %q]}\n", modules, compiled, "GOMODCACHE="+modules, "GOCACHE="+compiled,
			"GOFLAGS="+goEnv(t, "GOFLAGS"), "CGO_ENABLED="+goEnv(t, "CGO_ENABLED"))}
	p := b.project(t)
	if out, err := p.goTest(); err == nil {
		t.Fatalf("the bug breaks no test:\n%s", out)
	}
	p.carry()
	if out, err := p.goTest(); err != nil {
		t.Errorf("main is not green: %v\n%s", err, out)
	}
	p.mustBeSound()
	p.mustLeaveNothing()
	p.mustBeDocumented(p.documents(), 1)
	p.mustReadWell(b)
}

// project is a repository of the module with the bug, and its request.
func (b broken) project(t *testing.T) *project {
	t.Helper()
	p := &project{t, projectDir(t)}
	dir := t.TempDir() // of no module
	if err := os.CopyFS(p.dir, os.DirFS(download(t, dir, b.module))); err != nil {
		t.Fatal(err)
	}
	download(t, p.dir) // what it depends on
	path := filepath.Join(p.dir, b.file)
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(source), b.right, b.wrong, 1)
	if bad == string(source) {
		t.Fatalf("%s of %s has no %q", b.file, b.module, b.right)
	}
	if out, err := exec.CommandContext(t.Context(), "chmod", "-R", "u+w", p.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := filepath.Join(t.TempDir(), "mend.sh")
	quoted := strings.NewReplacer("[", `\[`)
	if err := os.WriteFile(script, fmt.Appendf(nil, mender, b.wish, quoted.Replace(b.wrong), quoted.Replace(b.right), b.file), 0o600); err != nil {
		t.Fatal(err)
	}
	p.write(b.file, bad)
	p.write("requests/1.md", fmt.Sprintf("---\nid: RQ-20260101-001\nnumber: 1\ntitle: %s\n---\n\n%s\n", b.title, b.wish))
	p.write(".signalbox/config.yaml", fmt.Sprintf("approve: auto\ntests: go test ./...\nagents:\n  mender: {driver: command, command: [sh, %q]}\n"+
		"roles: {planner: none, reviewer: none}\n%s", script, b.environment))
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", ".")
	p.git("commit", "--quiet", "-m", "Import "+b.module)
	return p
}

// download has modules in the module cache, those that the module of a folder depends on if it is told none,
// and returns where the last lies.
func download(t *testing.T, dir string, modules ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"mod", "download", "-json"}, modules...)...)
	command.Dir = dir
	out, err := command.Output()
	var got struct{ Dir, Error string }
	for each := json.NewDecoder(bytes.NewReader(out)); each.More() && err == nil && got.Error == ""; {
		err = each.Decode(&got)
	}
	if err != nil || got.Error != "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("download %v: %v %s", modules, err, got.Error)
		}
		t.Skipf("needs the module proxy: download %v: %v %s", modules, err, got.Error)
	}
	return got.Dir
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (p *project) goTest() (string, error) {
	command := exec.CommandContext(p.Context(), "go", "test", "./...")
	command.Dir = p.dir
	out, err := command.CombinedOutput()
	return string(out), err
}

// carry runs request 1 with more patience than compiling a standard library twice
// takes. No module can be downloaded: what the tests need was shown to them.
func (p *project) carry() {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program(p), "run", "1")
	command.Dir, command.Env = p.dir, append(os.Environ(), "GOPROXY=off")
	if out, err := command.CombinedOutput(); err != nil {
		p.Fatalf("signalbox run 1: %v\n%s", err, out)
	}
}

// mustReadWell looks at the history as somebody who was not there.
func (p *project) mustReadWell(b broken) {
	p.Helper()
	want := "*   Merge request 1: " + b.title + "\n|\\  \n| * " + b.title + "\n|/  \n* Import " + b.module
	if log := p.git("log", "--graph", "--format=%s"); log != want {
		p.Errorf("the history reads:\n%s\nwant:\n%s", log, want)
	}
	if diff := p.git("diff", "--stat", "HEAD^1", "HEAD"); !strings.HasSuffix(diff, "1 file changed, 1 insertion(+), 1 deletion(-)") {
		p.Errorf("the merge changes:\n%s", diff)
	}
	message := p.git("log", "-1", "--format=%B")
	for _, line := range []string{"Tested: go test ./...\n", "Test-Result: passed", "Tested-Commit: " + p.git("rev-parse", "HEAD^2"),
		"Tested-Tree: " + p.git("rev-parse", "HEAD^{tree}"), "Signalbox-Request: RQ-20260101-001"} {
		if !strings.Contains(message, line) {
			p.Errorf("the merge commit does not say %q:\n%s", line, message)
		}
	}
}
