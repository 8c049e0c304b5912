package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// owned lets git take the repositories for another user's, and gives the user a home of their own.
type owned struct{ home string }

func (o owned) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool { return strings.HasPrefix(v, "HOME=") })
	c.Env = append(c.Env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "HOME="+o.home)
	return process.Host{}.Exec(ctx, c)
}

// ownedProject is a project with two commits whose owner is another user, and that user's home, whose
// configuration also names what Signalbox must never start.
func ownedProject(t *testing.T, safe string) (p project, o owned, old, id, trap string) {
	t.Helper()
	p, o = newProject(t), owned{t.TempDir()}
	p.write("a", "1\n")
	old = p.commit("first")
	p.write("a", "2\n")
	id = p.commit("second")
	p.git("reset", "-q", "--hard", old)
	trap = filepath.Join(o.home, "sprung")
	hooks := project{t: t, dir: o.home}
	for _, name := range []string{"hooks/reference-transaction", "hooks/post-index-change", "monitor"} {
		hooks.write(name, "#!/bin/sh\ntouch "+trap+"\n")
		if err := os.Chmod(filepath.Join(o.home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := userConfig + "[core]\n\thooksPath = " + o.home + "/hooks\n\tfsmonitor = " + o.home + "/monitor\n"
	if safe != "" {
		config += "[safe]\n\tdirectory = " + safe + "\n"
	}
	hooks.write(".gitconfig", config)
	return p, o, old, id, trap
}

func TestTheUsersSafeDirectoryOpensARepositoryOfAnotherOwner(t *testing.T) {
	t.Parallel()
	for name, safe := range map[string]func(dir string) string{
		"by its name": func(dir string) string { return dir },
		"as all":      func(string) string { return "*" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, o, old, id, trap := ownedProject(t, "")
			config := project{t: t, dir: o.home}
			config.write(".gitconfig", config.read(".gitconfig")+"[safe]\n\tdirectory = "+safe(p.dir)+"\n")
			repo := p.openWith(o)
			if branch := must(repo.DefaultBranch(t.Context()))(t); branch != "main" {
				t.Errorf("branch %q", branch)
			}
			if at := must(repo.Resolve(t.Context(), "HEAD"))(t); at != old {
				t.Errorf("HEAD at %s, want %s", at, old)
			}
			if err := repo.UpdateRef(t.Context(), "refs/heads/main", id, old); err != nil {
				t.Fatal(err)
			}
			if err := repo.SyncCheckout(t.Context(), "refs/heads/main", old, id); err != nil {
				t.Fatal(err)
			}
			if p.read("a") != "2\n" {
				t.Errorf("the checkout has %q", p.read("a"))
			}
			if _, err := os.Lstat(trap); err == nil {
				t.Error("a program of the user's configuration was started")
			}
		})
	}
}

func TestARepositoryOfAnotherOwnerIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, safe := range map[string]string{"nothing is said": "", "another one is trusted": "/elsewhere"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, o, _, _, _ := ownedProject(t, safe)
			_, err := git.Open(t.Context(), o, p.dir)
			var refused *git.NotYoursError
			if !errors.As(err, &refused) || refused.Dir != p.dir {
				t.Errorf("got %v", err)
			}
		})
	}
}
