package clone_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
	"signalbox/internal/process/processtest"
)

// A requested file may be a link, or behind one, in a folder that is shown anyway: on many machines the system's /bin is a link,
// and so are programs in folders of PATH.
func TestRequestedFilesAreShownBehindLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, dir := range []string{"tools", "real", "versions/2/bin"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"real/agent", "versions/2/bin/agent"} {
		if err := processtest.WriteProgram(filepath.Join(top, program), []byte("#!/bin/sh\necho works\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"tools/far": filepath.Join(top, "real/agent"), "tools/near": "../real/agent", "tools/current": "../versions/2", "elsewhere": "tools",
	} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := environmenttest.NewProject(t)
	c := config(t, p)
	c.Variables = []string{"PATH=" + filepath.Join(top, "tools") + ":" + filepath.Join(top, "tools/current/bin") + ":" + clone.DefaultPath}
	d := clone.New(c)
	e, err := d.Make(t.Context(), p.Spec("one"))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"/bin/true", "tools/far", "tools/near", "tools/current/bin/agent", "elsewhere/near"} {
		for where, exec := range map[string]process.Executor{"an environment": e, "none yet": trying{d}} {
			path, want := program, ""
			if !filepath.IsAbs(path) {
				path, want = filepath.Join(top, program), "works\n"
			}
			var said bytes.Buffer
			r, err := exec.Exec(t.Context(), process.Command{Args: []string{path}, Reads: []string{path}, Stdout: &said, Stderr: &said, OutputLimit: 1 << 20})
			if err != nil || !r.OK() || said.String() != want {
				t.Errorf("%s in %s: %+v, %v: %s", program, where, r, err, said.String())
			}
		}
	}
}

type trying struct{ *clone.Driver }

func (t trying) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	return t.Try(ctx, c)
}
