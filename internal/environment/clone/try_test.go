package clone_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// A command is tried as it would run in an environment: with the requested files, without the project, and it leaves nothing.
func TestACommandIsTriedWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	c := config(t, p)
	d := clone.New(c)
	shown, hidden := filepath.Join(t.TempDir(), "shown"), filepath.Join(t.TempDir(), "hidden")
	for _, path := range []string{shown, hidden} {
		if err := os.WriteFile(path, []byte("text of a file\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		var out bytes.Buffer
		result, err := d.Try(t.Context(), process.Command{Args: []string{"/bin/sh", "-c", `pwd; ls -A . ~ /tmp "$1" | grep -v '^/'; cat "$2"; cat "$3"; touch left ~/left /tmp/left; echo "$A"`, "sh", c.Root, shown, hidden},
			Reads: []string{shown}, Env: []string{"A=b"}, Stdout: &out, Stderr: &out, Total: time.Minute, OutputLimit: 1 << 20})
		if said := out.String(); err != nil || !result.OK() || !strings.HasPrefix(said, "/workspace\n") || strings.Count(said, "text of a file") != 1 || strings.Contains(said, "left") || !strings.HasSuffix(said, "b\n") {
			t.Errorf("%+v, %v: %s", result, err, said)
		}
	}
	if _, err := d.Try(t.Context(), process.Command{Args: []string{"nobody-has-this"}, Total: time.Minute, OutputLimit: 1 << 20}); err == nil || !strings.Contains(err.Error(), "nobody-has-this") {
		t.Errorf("a missing program: %v", err)
	}
	if left, err := os.ReadDir(c.State); err == nil && len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
