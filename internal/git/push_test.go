package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"signalbox/internal/git"

	"signalbox/internal/process/processtest"
)

// published is a repository with a bare one as its origin.
func published(t *testing.T) (p, remote project, id string) {
	p = newProject(t)
	id = p.commit("first")
	remote = project{t: t, dir: t.TempDir()}
	remote.git("init", "-q", "--bare", ".")
	p.git("remote", "add", "origin", remote.dir)
	return p, remote, id
}

func TestPush(t *testing.T) {
	t.Parallel()
	p, _, first := published(t)
	second := p.commit("second")
	third := p.commit("third")
	repo := p.open()
	const ref = "refs/heads/signalbox/1-x"
	for _, step := range []struct {
		name    string
		id, old string
		want    error
		after   string
	}{
		{"a ref that is not there is at no commit", second, first, git.ErrRefMoved, ""},
		{"zeros make it", first, zeros, nil, first},
		{"the same again is no error", first, "", nil, first},
		{"another is not made over it", second, "", git.ErrRefMoved, first},
		{"it moves from where it is", second, first, nil, second},
		{"the same again from where it was is no error", second, first, nil, second},
		{"not from where it was", third, first, git.ErrRefMoved, second},
		{"backwards too, when that is known", first, second, nil, first},
	} {
		err := repo.Push(t.Context(), "origin", git.Push{Ref: ref, ID: step.id, Old: step.old})
		if !errors.Is(err, step.want) {
			t.Fatalf("%s: %v", step.name, err)
		}
		got, err := repo.RemoteRef(t.Context(), "origin", ref)
		if got != step.after || got == "" && !errors.Is(err, git.ErrNotFound) {
			t.Fatalf("%s: the remote is at %q (%v), want %q", step.name, got, err, step.after)
		}
	}
}

func TestRemoteRefTakesNoOtherThatEndsLikeIt(t *testing.T) {
	t.Parallel()
	p, _, first := published(t)
	const ref = "refs/heads/signalbox/1-x"
	p.git("push", "-q", "origin", first+":refs/heads/"+ref)
	if id, err := p.open().RemoteRef(t.Context(), "origin", ref); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("got %q, %v", id, err)
	}
}

func TestPushTellsWhatTheRemoteDoesNotWant(t *testing.T) {
	t.Parallel()
	p, remote, first := published(t)
	hook := filepath.Join(remote.dir, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := processtest.WriteProgram(hook, []byte("#!/bin/sh\necho protected >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := p.open().Push(t.Context(), "origin", git.Push{Ref: "refs/heads/main", ID: first})
	if !errors.Is(err, git.ErrRejected) {
		t.Errorf("got %v", err)
	}
}

func TestPushRunsNoHookOfTheProject(t *testing.T) {
	t.Parallel()
	p, _, first := published(t)
	p.write(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(p.dir, ".git/hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.open().Push(t.Context(), "origin", git.Push{Ref: "refs/heads/main", ID: first}); err != nil {
		t.Error(err)
	}
}

// A fork has no name here.
func TestABranchIsPushedToAnAddressAndDeletedThere(t *testing.T) {
	t.Parallel()
	p, remote, first := published(t)
	p.git("remote", "remove", "origin")
	repo := p.open()
	const ref = "refs/heads/signalbox/1-x"
	err := errors.Join(repo.MayPush(t.Context(), remote.dir, ref, first), repo.Push(t.Context(), remote.dir, git.Push{Ref: ref, ID: first}))
	if id, unread := repo.RemoteRef(t.Context(), remote.dir, ref); err != nil || unread != nil || id != first {
		t.Errorf("it is at %q: %v, %v", id, err, unread)
	}
	if err := repo.DeleteRemoteRef(t.Context(), remote.dir, ref, first); err != nil {
		t.Error(err)
	}
}

func TestPushRefusesWhatIsNoName(t *testing.T) {
	t.Parallel()
	p, _, first := published(t)
	for _, test := range []struct {
		remote string
		push   git.Push
	}{
		{"--receive-pack=touch x", git.Push{Ref: "refs/heads/main", ID: first}},
		{"ext::sh -c touch", git.Push{Ref: "refs/heads/main", ID: first}},
		{"ext::sh", git.Push{Ref: "refs/heads/main", ID: first}},
		{"https://ada:secret@example.org/x/y.git", git.Push{Ref: "refs/heads/main", ID: first}},
		{"ssh://-oProxyCommand=touch/x/y", git.Push{Ref: "refs/heads/main", ID: first}},
		{"-oProxyCommand=touch:x/y", git.Push{Ref: "refs/heads/main", ID: first}},
		{"ada@-oProxyCommand=touch:x/y", git.Push{Ref: "refs/heads/main", ID: first}},
		{"file:///srv/x.git", git.Push{Ref: "refs/heads/main", ID: first}},
		{"origin", git.Push{Ref: "main", ID: first}},
		{"origin", git.Push{Ref: "refs/heads/main:refs/heads/x", ID: first}},
		{"origin", git.Push{Ref: "refs/heads/main", ID: ""}},
		{"origin", git.Push{Ref: "refs/heads/main", ID: first, Old: "HEAD"}},
	} {
		if err := p.open().Push(t.Context(), test.remote, test.push); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("%v: %v", test, err)
		}
	}
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	repo := p.open()
	if none := must(repo.Remotes(t.Context()))(t); none != nil {
		t.Errorf("got %v", none)
	}
	if _, err := repo.Remote(t.Context(), "origin"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	want := []git.Remote{
		{Name: "origin", URL: "/srv/x.git", Local: true},
		{Name: "file", URL: "file:///srv/x.git", Local: true},
		{Name: "near", URL: "../x.git", Local: true},
		{Name: "host", URL: "git@example.org:x.git"},
		{Name: "web", URL: "https://example.org/x.git"},
	}
	for _, remote := range want {
		p.git("remote", "add", remote.Name, remote.URL)
	}
	p.git("remote", "set-url", "--add", "origin", "/srv/second.git")
	if got := must(repo.Remotes(t.Context()))(t); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
