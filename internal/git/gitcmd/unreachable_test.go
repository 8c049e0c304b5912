package gitcmd_test

import (
	"errors"
	"net"
	"path/filepath"
	"testing"

	"signalbox/internal/git/gitcmd"
	"signalbox/internal/process"
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
	dir := newRepository(t)
	for _, remote := range []struct {
		url         string
		unreachable bool
	}{{"git://" + address + "/x.git", true}, {"http://" + address + "/x.git", true}, {t.TempDir() + "/none.git", false}} {
		runner := &gitcmd.Runner{Exec: process.Host{}, Root: dir, GitDir: filepath.Join(dir, ".git")}
		_, err := runner.Run(t.Context(), gitcmd.Call{Args: []string{"ls-remote", "--", remote.url}, Dir: dir, User: true})
		if err == nil || errors.Is(err, gitcmd.ErrUnreachable) != remote.unreachable {
			t.Errorf("%s: %v; unreachable: %t", remote.url, err, errors.Is(err, gitcmd.ErrUnreachable))
		}
	}
}
