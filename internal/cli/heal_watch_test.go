package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
)

// answering is a terminal before which somebody sits: on each word that is waited for, one thing is done.
type answering struct {
	said strings.Builder
	on   []string
	do   []func()
}

func (a *answering) Write(data []byte) (int, error) {
	a.said.Write(data)
	if len(a.on) > 0 && strings.Contains(string(data), a.on[0]) {
		a.do[0]()
		a.on, a.do = a.on[1:], a.do[1:]
	}
	return len(data), nil
}

// What stands in the way of one pass does not change how soon the next is made.
func TestHealWatchKeepsItsIntervalOnceItsConfigurationIsFixed(t *testing.T) {
	t.Parallel()
	p := newPatient(t, "health:\n", "health:\n  every: 1s\n")
	p.write("greeting.txt", "hello\n")
	p.git("commit", "--quiet", "--all", "--message=Say hello")
	sound, err := os.ReadFile(filepath.Join(p.dir, ".signalbox", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	terminal := &answering{on: []string{"healthy", "error: configuration ", "healthy"}, do: []func(){
		func() { p.write(".signalbox/config.yaml", "health: nonsense\n") },
		func() { p.write(".signalbox/config.yaml", string(sound)) },
		stop,
	}}
	code := cli.Main(ctx, []string{"heal", "watch"}, command.Streams{In: strings.NewReader(""), Out: terminal, Err: terminal, Width: func() int { return 80 },
		Env: os.Getenv, Dir: p.dir, Clock: time.Now})
	if code != 0 || len(terminal.on) > 0 {
		t.Errorf("exit code %d, and nobody said %q:\n%s", code, terminal.on, &terminal.said)
	}
}

func TestAnInterruptedPassSaysHowToContinue(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	terminal := &answering{on: []string{"greeting: repairing"}, do: []func(){stop}}
	code := cli.Main(ctx, []string{"heal"}, command.Streams{In: strings.NewReader(""), Out: terminal, Err: terminal, Width: func() int { return 80 },
		Env: os.Getenv, Dir: p.dir, Clock: time.Now})
	if said := terminal.said.String(); code != 1 || !strings.Contains(said, "error: interrupted; ") || !strings.Contains(said, "go on: signalbox heal\n") || strings.Contains(said, "canceled") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
	p.run(0, "heal")
	if h := p.health(); h.TotalFixesAttempted != 1 || h.TotalFixesSucceeded != 1 {
		t.Errorf("%+v", h)
	}
}
