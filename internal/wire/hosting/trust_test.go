package hosting

import (
	"context"
	"strings"
	"testing"

	"signalbox/internal/config"
)

func TestAgreeingToAForgeNamesItsRepository(t *testing.T) {
	t.Parallel()
	list := Named([]config.Reach{{Key: "forge.driver", Value: "gitea"}, {Key: "forge.token", Value: "X"}},
		Page(config.Forge{Driver: config.ForgeGitea}, "git@git.example.org:ada/engine.git"))
	if list[0].Value != "gitea at https://git.example.org/ada/engine" || list[1].Value != "X" {
		t.Errorf("the list is %+v", list)
	}
	if list = Named([]config.Reach{{Key: "forge.driver", Value: "gitea"}}, Page(config.Forge{Driver: config.ForgeGitea}, "")); list[0].Value != "gitea" {
		t.Errorf("without a remote, the list is %+v", list)
	}
}

func TestATokenIsPlainOnlyOverHTTPToAnotherMachine(t *testing.T) {
	t.Parallel()
	for remote, plain := range map[string]bool{"http://git.example.org/a/b": true, "https://git.example.org/a/b": false, "http://127.0.0.1:3000/a/b": false,
		"http://localhost/a/b": false, "git@git.example.org:a/b": false, "/srv/a/b": false} {
		f := New(Config{Remote: func(context.Context) (string, error) { return remote, nil }})
		if err := f.Plain(t.Context()); (err != nil) != plain || err != nil && !strings.Contains(err.Error(), "git.example.org") {
			t.Errorf("%s: %v", remote, err)
		}
	}
}
