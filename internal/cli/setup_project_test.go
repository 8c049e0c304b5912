package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// debianMaven is where the packages of Debian put Maven's plugins and libraries.
const debianMaven = "/usr/share/maven-repo"

// realSettings are those of every real project: its agent is a script, and its
// commands reach the index and nothing else.
const realSettings = `approve: auto
workflow: simple
agents:
  script: {driver: replay, script: .signalbox/playbook.yaml}
`

// realProject is a project of testdata/setup, whose one request is answered by the files below its
// folder change/. More entries of its agent's script go before that one; changes are pairs of texts
// to replace in its files.
func realProject(t *testing.T, name string, x *packageIndex, entries string, changes ...string) *project {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/setup/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t, t.TempDir()}
	replace := strings.NewReplacer(append(changes, "{index}", x.url, "{host}", x.host)...)
	change := map[string]string{}
	for _, file := range archive.Files {
		content := replace.Replace(string(file.Data))
		switch path, changed := strings.CutPrefix(file.Name, "change/"); {
		case changed:
			change[path] = content
		case path == ".signalbox/config.yaml":
			p.write(path, replace.Replace(reaching(x, string(file.Data))+realSettings))
		default:
			p.write(path, content)
		}
	}
	files, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	p.write(".signalbox/playbook.yaml", "entries:\n"+entries+fmt.Sprintf("  - {role: implementer, do: [{write: %s}, {answer: Said.}]}\n", files))
	p.write("requests/1.md", "---\nid: RQ-20260101-001\nnumber: 1\ntitle: Say hello in a colour\n---\n\nSay it in the colour of the dependency.\n")
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", ".")
	p.git("commit", "--quiet", "-m", "Begin")
	return p
}

// reaching are the settings with the index as the one host that commands may reach.
func reaching(x *packageIndex, settings string) string {
	if !strings.Contains(settings, "environment:\n") {
		settings += "environment:\n"
	}
	network := fmt.Sprintf("environment:\n  network: registries\n  allow: [%q]\n", strings.TrimPrefix(x.url, "http://"))
	return strings.Replace(settings, "environment:\n", network, 1)
}

// lock has a tool of this machine write the lock file.
func (p *project) lock(args ...string) {
	p.Helper()
	command := exec.CommandContext(p.Context(), args[0], args[1:]...)
	command.Dir = p.dir
	command.Env = append(os.Environ(), "npm_config_cache="+p.TempDir(), "GOMODCACHE="+p.TempDir(), "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GONOSUMDB=*")
	if out, err := command.CombinedOutput(); err != nil {
		p.Fatalf("%v: %v\n%s", args, err, out)
	}
	p.git("add", ".")
	p.git("commit", "--quiet", "--amend", "--no-edit")
}

// needs passes a test by where a program is missing, or what it needs.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		lacks(t, program)
	}
	switch program {
	case "python3":
		if err := exec.CommandContext(t.Context(), "python3", "-c", "import ensurepip").Run(); err != nil {
			lacks(t, "Python's module ensurepip")
		}
	case "mvn":
		for _, path := range []string{"org/apache/maven/plugins/maven-surefire-plugin", "org/apache/maven/plugins/maven-compiler-plugin", "junit/junit"} {
			if _, err := os.Stat(filepath.Join(debianMaven, path)); err != nil {
				lacks(t, "Maven's "+path+" in "+debianMaven)
			}
		}
	}
}

// lacks passes a test by for what is missing here; in CI nothing may be.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("missing here: " + what)
	}
	t.Skip("missing here: " + what)
}

// carryReal runs request 1 with the patience that real tools on a busy machine want.
func (p *project) carryReal() string {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program(p), "run", "1")
	command.Dir = p.dir
	out, err := command.CombinedOutput()
	if err != nil {
		p.Fatalf("signalbox run 1: %v\n%s\n%+v", err, out, p.stage(1).Details.SetUp)
	}
	return string(out)
}
