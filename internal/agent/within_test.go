package agent

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAProgramOfTheRepositoryIsKnownForThatBehindLinksAndInterpreters(t *testing.T) {
	t.Parallel()
	repo, outside := t.TempDir(), t.TempDir()
	file := func(path, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, path string) string {
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inside := file(filepath.Join(repo, "evil"), "#!/bin/sh\n")
	path := []string{"PATH=.:" + repo + ":" + outside}
	for name, c := range map[string]struct {
		program Program
		want    bool
	}{
		"itself":                {Program{Args: []string{inside}}, true},
		"by name":               {Program{Args: []string{"evil"}, Env: path}, true},
		"behind a link":         {Program{Args: []string{link(inside, filepath.Join(outside, "link"))}}, true},
		"by its interpreter":    {Program{Args: []string{file(filepath.Join(outside, "script"), "#!"+inside+"\n")}}, true},
		"by a name after env":   {Program{Args: []string{file(filepath.Join(outside, "env-script"), "#!/usr/bin/env evil\n")}, Env: path}, true},
		"outside":               {Program{Args: []string{file(filepath.Join(outside, "good"), "#!/bin/sh\n")}}, false},
		"a link that leads out": {Program{Args: []string{link("/bin/sh", filepath.Join(repo, "out"))}}, false},
		"not there":             {Program{Args: []string{"no-such-program"}, Env: path}, false},
	} {
		if got := c.program.Within(repo); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
