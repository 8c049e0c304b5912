package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/cli"
)

func TestEveryCommandHasAPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := write(cli.Commands(), dir); err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]string{
		"man/signalbox.1": "Exit codes", "man/signalbox-run.1": "signalbox run 42", "man/signalbox-heal-watch.1": "SYNOPSIS",
		"completions/signalbox.bash": "__start_signalbox", "completions/_signalbox": "#compdef signalbox", "completions/signalbox.fish": "complete -c signalbox",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), words) {
			t.Errorf("%s says nothing of %q (%v)", name, words, err)
		}
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, "man", "*replay*")); len(hidden) > 0 {
		t.Errorf("a hidden command has a page: %q", hidden)
	}
}
