package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// runner is the path of a program that scripts/runners.sh installs.
func runner(t *testing.T, name string) string {
	t.Helper()
	const hint = "set SIGNALBOX_RUNNERS to the folder that scripts/runners.sh prints"
	path := filepath.Join(os.Getenv("SIGNALBOX_RUNNERS"), name)
	if _, err := os.Stat(path); os.Getenv("SIGNALBOX_RUNNERS") == "" || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed: %s", name, hint)
		}
		t.Skipf("%s is not installed: %s", name, hint)
	}
	return path
}

// signalbox is the program, built on first use into a folder that TestMain removes.
var signalbox = sync.OnceValues(func() (string, error) {
	build := exec.Command("go", "build", "-o", programs, "signalbox/cmd/signalbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build signalbox: %w\n%s", err, out)
	}
	return filepath.Join(programs, "signalbox"), nil
})

var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "signalbox-pipeline-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
