package clone_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"

	"signalbox/internal/process/processtest"
)

func made(t testing.TB, d *clone.Driver, p *environmenttest.Project) environment.Environment {
	t.Helper()
	e, err := d.Make(t.Context(), p.Spec("site"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// folder returns the work folder of made's environment.
func folder(p *environmenttest.Project) string { return filepath.Join(p.Root, p.Spec("site").Dir) }

func expect(t testing.TB, e environment.Environment, script, want string) {
	t.Helper()
	var said bytes.Buffer
	r, err := e.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", script}, Stdout: &said, Stderr: &said})
	if err != nil || !r.OK() || said.String() != want {
		t.Fatalf("script %q: got %q, exit code %d, %v; want %q", script, said.String(), r.ExitCode, err, want)
	}
}

func TestCheckNamesAMissingProgram(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "bwrap")
	if err := processtest.WriteProgram(broken, []byte("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := environmenttest.NewProject(t)
	for name, test := range map[string]struct {
		bubblewrap  string
		unsandboxed bool
		note, err   string
	}{
		"bubblewrap works":                        {},
		"bubblewrap is not installed":             {bubblewrap: "/nowhere/bwrap", err: "there is no program /nowhere/bwrap"},
		"bubblewrap may not make namespaces":      {bubblewrap: broken, err: "No permissions to create new namespace"},
		"a person said to do without a sandbox":   {unsandboxed: true, note: "without isolation"},
		"nor is it needed where a person said so": {bubblewrap: "/nowhere/bwrap", unsandboxed: true, note: "without isolation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t, p)
			c.Bubblewrap, c.Unsandboxed = test.bubblewrap, test.unsandboxed
			note, err := clone.New(c).Check(t.Context())
			if !strings.Contains(note, test.note) || (note == "") != (test.note == "") {
				t.Errorf("got note %q", note)
			}
			if test.err == "" && err != nil {
				t.Error(err)
			}
			if test.err != "" && (!errors.Is(err, environment.ErrNoIsolation) || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got error %v", err)
			}
		})
	}
}

func TestASandboxThatCannotBeBuiltIsAnErrorAndNoExitCode(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	c := config(t, p)
	c.Bubblewrap = filepath.Join(t.TempDir(), "bwrap")
	if err := processtest.WriteProgram(c.Bubblewrap, []byte("#!/bin/sh\necho 'bwrap: Out of luck' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := made(t, clone.New(c), p).Exec(t.Context(), process.Command{Args: []string{"true"}})
	if !errors.Is(err, clone.ErrSandbox) || !strings.Contains(err.Error(), "Out of luck") {
		t.Errorf("got error %v", err)
	}
}

func TestAbsurdContentIsRefused(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"one file of more than 100 MiB":       "truncate -s 101M big",
		"a tracked file of more than 100 MiB": "truncate -s 101M README.md",
		"more than 1 GiB in all":              "for i in 1 2 3 4 5 6 7 8 9 10 11; do truncate -s 99M part$i || exit; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := environmenttest.NewProject(t)
			e := made(t, clone.New(config(t, p)), p)
			expect(t, e, script, "")
			if _, err := e.Record(t.Context(), p.Commit, "work\n"); !errors.Is(err, environment.ErrTooLarge) {
				t.Errorf("got error %v", err)
			}
			if err := e.Reset(t.Context(), p.Commit, "refs/signalbox/kept/42"); !errors.Is(err, environment.ErrTooLarge) {
				t.Errorf("work that can't be kept was reset: %v", err)
			}
			if err := e.Reset(t.Context(), p.Commit, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALinkInPlaceOfTheFolderForClonesIsRefused(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(p.Root, ".worktrees")); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.New(config(t, p)).Make(t.Context(), p.Spec("site")); err == nil {
		t.Error("a clone was made through a link")
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("made elsewhere: %v, %v", left, err)
	}
}

func TestACloneWithABrokenGitFolderStopsNoOther(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	d := clone.New(config(t, p))
	expect(t, made(t, d, p), "echo /nowhere/at/all >.git/commondir", "")
	if _, err := d.Make(t.Context(), p.Spec("other")); err != nil {
		t.Error(err)
	}
}

func TestRemoveEndsTheProcessesOfItsEnvironmentOnly(t *testing.T) {
	t.Parallel()
	p, other := environmenttest.NewProject(t), environmenttest.NewProject(t)
	d := clone.New(config(t, p))
	made(t, d, p)
	mine := leftover(t, folder(p))
	theirs := leftover(t, filepath.Join(other.Root, other.Spec("site").Dir))
	if err := d.Remove(t.Context(), p.Spec("site")); err != nil {
		t.Fatal(err)
	}
	if err := mine.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process of the environment ended with %v", err)
	}
	if line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(theirs.Process.Pid), "cmdline")); err != nil || len(line) == 0 {
		t.Errorf("the process of another project's environment has ended (%v)", err)
	}
}

func TestTheProjectStaysHiddenFromEveryRequest(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	c := config(t, p)
	for _, never := range []string{filepath.Dir(filepath.Dir(p.Root)), "/workspace/src", "/home/signalbox/.ssh"} {
		c.ReadOnly = []string{never}
		if _, err := made(t, clone.New(c), p).Exec(t.Context(), process.Command{Args: []string{"true"}}); err == nil || !strings.Contains(err.Error(), never) {
			t.Errorf("%s was shown: %v", never, err)
		}
	}
	c.ReadOnly = nil
	c.Variables = append([]string{"PATH=" + p.Root + ":/usr/bin:/bin:" + filepath.Dir(p.Root)}, c.Variables[1:]...)
	e, err := clone.New(c).Make(t.Context(), p.Spec("site"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, e, `ls -A "`+p.Root+`"`, ".signalbox\n")
}

func BenchmarkRecord(b *testing.B) {
	e, p := benchmarked(b, false)
	for b.Loop() {
		expect(b, e, "echo x >>README.md", "")
		if _, err := e.Record(b.Context(), p.Commit, "work\n"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMakeAndRemove(b *testing.B) {
	p := environmenttest.NewProject(b)
	d := clone.New(config(b, p))
	for b.Loop() {
		made(b, d, p)
		if err := d.Remove(b.Context(), p.Spec("site")); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarked(b *testing.B, unsandboxed bool) (environment.Environment, *environmenttest.Project) {
	b.Helper()
	p := environmenttest.NewProject(b)
	c := config(b, p)
	c.Unsandboxed = unsandboxed
	return made(b, clone.New(c), p), p
}

// leftover starts a process with the mark of an environment's folder.
func leftover(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sleep", "1000")
	c.Env = []string{"SIGNALBOX_ENV_ID=site", clone.Mark(dir)}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func TestAProjectWhoseFolderHasTwoLinesInItsName(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	odd := p.Root + "\n\"line\\"
	if err := os.Rename(p.Root, odd); err != nil {
		t.Fatal(err)
	}
	p.Root = odd
	e := made(t, clone.New(config(t, p)), p)
	expect(t, e, "echo x >new.txt", "")
	if _, err := e.Record(t.Context(), p.Commit, "work\n"); err != nil {
		t.Error(err)
	}
}
