package forge_test

import (
	"testing"

	"signalbox/internal/forge"
)

func TestCompareURLIsThatOfTheRemotesForge(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://github.com/ada/engine.git":                     "https://github.com/ada/engine/compare/b...h",
		"https://github.com/ada/engine/":                        "https://github.com/ada/engine/compare/b...h",
		"git@github.com:ada/engine.git":                         "https://github.com/ada/engine/compare/b...h",
		"github.com:ada/engine":                                 "https://github.com/ada/engine/compare/b...h",
		"ssh://git@github.com/ada/engine":                       "https://github.com/ada/engine/compare/b...h",
		"ssh://git@ssh.github.com:443/ada/engine.git":           "https://github.com/ada/engine/compare/b...h",
		"https://github.example.com:8443/ada/engine.git":        "https://github.example.com:8443/ada/engine/compare/b...h",
		"https://oauth2:glpat-abc@gitlab.com/a/b/engine.git":    "https://gitlab.com/a/b/engine/-/compare/b...h",
		"ssh://git@gitlab.example.org:2222/a/b/engine.git":      "https://gitlab.example.org/a/b/engine/-/compare/b...h",
		"git@codeberg.org:ada/engine.git":                       "https://codeberg.org/ada/engine/compare/b...h",
		"http://token@gitea.example.org:3000/ada/engine":        "http://gitea.example.org:3000/ada/engine/compare/b...h",
		"https://forgejo.example.org/ada/engine.git":            "https://forgejo.example.org/ada/engine/compare/b...h",
		"https://ada:secret@bitbucket.org/ada/engine.git":       "https://bitbucket.org/ada/engine/branches/compare/h%0Db",
		"https://github.com/ada/engine.git?access_token=secret": "https://github.com/ada/engine/compare/b...h",

		"https://bitbucket.example.org/scm/a/engine.git": "",
		"https://git.example.org/ada/engine.git":         "",
		"https://notgithub.com/ada/engine.git":           "",
		"https://github.com/engine.git":                  "",
		"https://github.com/ada/../engine":               "",
		"https://github.com/ada/eng%20ine":               "",
		"git@github.com:ada/eng\nine":                    "",
		"/srv/github.com/ada/engine.git":                 "",
		"file:///srv/github/ada/engine.git":              "",
		"../github/engine":                               "",
		"":                                               "",
	} {
		if got := forge.CompareURL(remote, "b", "h"); got != want {
			t.Errorf("%q gives %q, want %q", remote, got, want)
		}
	}
	if got := forge.CompareURL("git@github.com:ada/engine", "b", ""); got != "" {
		t.Errorf("nothing that was pushed is shown at %q", got)
	}
}
