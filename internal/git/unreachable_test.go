package git_test

import (
	"errors"
	"net"
	"testing"

	"signalbox/internal/git"
)

// A port on which no one listens refuses at once, and git says so in its own words.
func TestARemoteThatRefusesTheConnectionIsUnreachable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, remote := range []struct {
		url         string
		unreachable bool
	}{{"git://" + address + "/x.git", true}, {"http://" + address + "/x.git", true}, {t.TempDir() + "/none.git", false}} {
		p := newProject(t)
		p.write("a", "a\n")
		p.commit("first")
		p.git("remote", "add", "origin", remote.url)
		_, err := p.open().RemoteRef(t.Context(), "origin", "refs/heads/main")
		if err == nil || errors.Is(err, git.ErrUnreachable) != remote.unreachable {
			t.Errorf("%s: %v; unreachable: %t", remote.url, err, errors.Is(err, git.ErrUnreachable))
		}
	}
}

// To git such a filter is "the remote end", which hung up.
func TestALongRunningFilterThatDoesNotStartIsNoNetwork(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write(".gitattributes", "*.bin filter=lfs\n")
	p.write("a.bin", "a\n")
	p.commit("first")
	p.git("config", "filter.lfs.process", "no-such-filter process")
	p.git("config", "filter.lfs.clean", "cat")
	p.git("config", "filter.lfs.smudge", "cat")
	p.git("config", "filter.lfs.required", "true")
	if err := p.open().CheckFilters(t.Context()); !errors.Is(err, git.ErrFilter) {
		t.Errorf("got %v", err)
	}
}
