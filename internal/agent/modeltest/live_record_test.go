//go:build agents

package modeltest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

// record runs an agent in a case.
func record(t *testing.T, p program, b behavior, bin string) modeltest.Recording {
	t.Helper()
	at := place{home: t.TempDir(), work: t.TempDir()}
	if err := os.Mkdir(filepath.Join(at.home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := at.work
	if p.pieces {
		dir = ""
	}
	server, network := model(t, b, dir)
	at.url = server.URL
	if b.refused {
		at.url = "http://127.0.0.1:1"
	}
	args, env := p.start(t, at)
	command := b.command(at, bin, args, env)
	command.Network = network
	end, stdout, stderr := run(t, command)
	judge(t, server, b, end)
	_, version, alsoVersion := run(t, b.command(at, bin, []string{"--version"}, nil)) // pi tells it on standard error

	c := newCleaner(at, filepath.Dir(filepath.Dir(bin)))
	r := modeltest.Recording{Agent: p.name, Version: strings.TrimSpace(version + alsoVersion), Case: b.name,
		Ending: end.Ending, ExitCode: end.ExitCode, Signal: end.Signal, Stdout: []byte(c.clean(stdout)), Stderr: c.clean(stderr)}
	for _, arg := range args {
		r.Args = append(r.Args, c.clean(arg))
	}
	content, err := os.ReadFile(filepath.Join(at.work, "hello.txt"))
	r.Wrote = err == nil && string(content) == "hello\n"
	return r
}

// run returns how a program ended and what it printed.
func run(t *testing.T, c process.Command) (end process.Result, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	end, err := process.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return end, out.String(), problems.String()
}

// judge holds what the agent asked for against what the server is made for.
func judge(t *testing.T, server *modeltest.Server, b behavior, end process.Result) {
	t.Helper()
	t.Logf("%s with code %d after %s, %d requests", end.Ending, end.ExitCode, end.Duration.Round(100_000_000), server.Count())
	for _, x := range server.Unexpected() {
		t.Error(x.Problem)
	}
	for _, x := range server.Answers() {
		if x.Key != liveKey {
			t.Errorf("request %d came with key %q", x.Number, x.Key)
		}
	}
	if server.Count() == 0 && !b.refused {
		t.Error("the model was never asked")
	}
}
