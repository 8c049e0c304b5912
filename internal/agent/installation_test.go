package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"

	"signalbox/internal/process/processtest"
)

// Not parallel: HOME is of the whole test's process.
func TestInstallationShowsOnlyAProgramsOwnFiles(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	place(t, home, "tools/node/bin/node", "#!/bin/sh\necho node \"$@\"\n")
	place(t, home, "tools/node/lib/libnode.so", "")
	t.Setenv("PATH", home+"/tools/node/bin:/usr/bin:/bin")
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	const native = "\x7fELF and more"
	for _, test := range []struct {
		name, file, text string
		link             string
		args, reads      []string // in HOME where they do not begin with a slash
	}{
		{name: "a script of node behind a link", file: "app/node_modules/@a/b/node_modules/c/cli.js", text: "#!/usr/bin/env node\nx",
			link: "app/node_modules/.bin/agent",
			args: []string{"tools/node/bin/node", "app/node_modules/@a/b/node_modules/c/cli.js"}, reads: []string{"app/node_modules", "tools/node/bin/node", "tools/node/lib"}},
		{name: "an interpreter with arguments", file: "a/b/agent", text: "#!/usr/bin/env -S node --quiet\n",
			args: []string{"tools/node/bin/node", "--quiet", "a/b/agent"}, reads: []string{"a/b", "tools/node/bin/node", "tools/node/lib"}},
		{name: "the system's interpreter is every sandbox's own", file: "a/c/agent", text: "#!/bin/sh\n", args: []string{"a/c/agent"}, reads: []string{"a/c"}},
		{name: "a native program of several versions", file: ".local/share/agent/versions/1.2.3", text: native,
			link: ".local/bin/agent", args: []string{".local/share/agent/versions/1.2.3"}, reads: []string{".local/share/agent/versions"}},
		{name: "a native program among others", file: ".local/bin/other", text: native, args: []string{".local/bin/other"}, reads: []string{".local/bin/other"}},
		{name: "one beside a person's keys", file: ".agent/agent", text: native, args: []string{".agent/agent"}, reads: []string{".agent/agent"}},
		{name: "one in HOME itself", file: "agent", text: native, args: []string{"agent"}, reads: []string{"agent"}},
		{name: "an empty file", file: "a/d/agent", args: []string{"a/d/agent"}, reads: []string{"a/d"}},
		{name: "one of the system", file: sh, args: []string{sh}, reads: []string{sh}},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := inHome(home, test.file)[0]
			if program != sh {
				place(t, home, test.file, test.text)
			}
			if test.link != "" {
				program = filepath.Join(home, test.link)
				link(t, filepath.Join(home, test.file), program)
			}
			got, err := agent.Program{Agent: "a", Args: []string{program}}.Installation()
			if err != nil {
				t.Fatal(err)
			}
			if want := inHome(home, test.args...); !slices.Equal(got.Args, want) {
				t.Errorf("Args = %q, want %q", got.Args, want)
			}
			if want := inHome(home, test.reads...); !slices.Equal(got.Reads, want) {
				t.Errorf("Reads = %q, want %q", got.Reads, want)
			}
		})
	}
}

func inHome(home string, paths ...string) (found []string) {
	for _, path := range paths {
		if !filepath.IsAbs(path) && path[0] != '-' {
			path = filepath.Join(home, path)
		}
		found = append(found, path)
	}
	return found
}

func place(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := processtest.WriteProgram(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestLocatedLeavesAProgramThatIsNotHere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"there-is-no-such-agent", "/opt/there-is-no-such-agent"} {
		p := agent.Program{Agent: "a", Args: []string{name, "-p"}, Reads: []string{"/x"}}
		if got := p.Located(); !slices.Equal(got.Args, p.Args) || !slices.Equal(got.Reads, p.Reads) {
			t.Errorf("Located = %+v", got)
		}
		if _, err := p.Version(t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Version = %v", err)
		}
	}
}

func TestLocatedPutsArgumentsBehindTheInterpreter(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	node := place(t, dir, "x/tool/run", "#!/bin/sh\n")
	script := place(t, dir, "x/app/agent", "#!"+node+"\n")
	got := agent.Program{Agent: "a", Args: []string{script, "-p"}, Reads: []string{"/x"}}.Located()
	if want := []string{node, script, "-p"}; !slices.Equal(got.Args, want) {
		t.Errorf("Args = %q, want %q", got.Args, want)
	}
	if want := []string{"/x", dir + "/x/app", dir + "/x/tool"}; !slices.Equal(got.Reads, want) {
		t.Errorf("Reads = %q, want %q", got.Reads, want)
	}
}

func TestVersionIsTheFirstLineOfOneStream(t *testing.T) {
	t.Parallel()
	ask := func(ctx context.Context, script string, env ...string) (string, error) {
		program := place(t, t.TempDir(), "agent", "#!/bin/sh\n"+script)
		return agent.Program{Agent: "a", Args: []string{program, "-p"}, Env: env}.Version(ctx)
	}
	for _, test := range []struct{ name, script, want string }{
		{name: "on standard output", script: "echo '1.2.3 (An Agent)'; echo more", want: "1.2.3 (An Agent)"},
		{name: "not a warning on standard error", script: "echo careful >&2; echo 1.2.3", want: "1.2.3"},
		{name: "on standard error", script: `printf '\n0.74.2\n' >&2`, want: "0.74.2"},
		{name: "it is asked with one argument", script: `echo "$#$1"`, want: "1--version"},
		{name: "its HOME is empty", script: `ls -A "$HOME" | wc -l`, want: "0"},
		{name: "it has its own variables", script: `echo "$DO_NOT_TRACK$QUIET"`, want: "1yes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got, err := ask(t.Context(), test.script, "QUIET=yes"); got != test.want || err != nil {
				t.Errorf("Version = %q, %v; want %q", got, err, test.want)
			}
		})
	}
	home, err := ask(t.Context(), `echo "$HOME"`)
	if _, gone := os.Stat(home); err != nil || !errors.Is(gone, os.ErrNotExist) {
		t.Errorf("HOME %q is still there (%v), %v", home, gone, err)
	}
	if _, err := ask(t.Context(), "echo no such library >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "code 3: no such library") {
		t.Errorf("Version = %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ask(canceled, "echo 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("Version = %v, want %v", err, context.Canceled)
	}
}
