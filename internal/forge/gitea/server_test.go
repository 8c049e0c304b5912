package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitea"
	"signalbox/internal/forge/gitea/giteatest"
	"signalbox/internal/forge/hostedtest"
)

// server is shared by all tests of this package: it takes seconds to start. bot is the account that Signalbox uses there, and botToken its token.
var (
	server   *giteatest.Server
	botToken string
)

const bot = "signalbox"

func TestMain(m *testing.M) {
	run := m.Run
	if programs := os.Getenv(giteatest.Programs); programs != "" {
		run = func() int { return withServer(programs, m.Run) }
	}
	hostedtest.MainIn(run, func(ctx context.Context, p place, i *hostedtest.Instants) (forge.Forge, error) {
		return open(ctx, i.Host(hostedtest.Changes), &http.Client{Transport: i}, p.Project, p.At, hostedtest.NoTests)
	})
}

// place is where a process is killed.
type place struct {
	Project string
	At      target
}

func withServer(programs string, run func() int) int {
	ctx := context.Background()
	var err error
	if server, err = giteatest.Start(ctx, programs); err == nil {
		if botToken, err = server.User(ctx, bot); err == nil {
			code := run()
			if err = server.Stop(); err == nil {
				return code
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// needsServer leaves a test out where no Gitea is built. scripts/test.sh names what is left out.
func needsServer(t *testing.T) {
	t.Helper()
	if server == nil {
		t.Skip("no Gitea: " + giteatest.Programs + " is not set")
	}
}

// target is a repository on the server.
type target struct {
	URL, Name, Token string
	Way              string
}

var repositories atomic.Int64

// newTarget makes a repository with one commit on main, to which each account with the right may push anything.
func newTarget(t *testing.T) target {
	t.Helper()
	at := newGuarded(t)
	if err := server.Unguard(bot, at.Name); err != nil {
		t.Fatal(err)
	}
	return at
}

// newGuarded makes a repository that keeps its rules.
func newGuarded(t *testing.T) target {
	t.Helper()
	needsServer(t)
	at := target{URL: server.URL, Name: fmt.Sprintf("project-%d", repositories.Add(1)), Token: botToken}
	if err := server.Repository(t.Context(), bot, at.Name); err != nil {
		t.Fatal(err)
	}
	return at
}

// call calls the API below the repository, as Signalbox's account.
func (at target) call(t *testing.T, method, path string, in, out any) {
	t.Helper()
	if err := server.Call(t.Context(), at.Token, method, "repos/"+bot+"/"+at.Name+path, in, out); err != nil {
		t.Fatal(err)
	}
}

func noToken(context.Context) (string, error) { return "", errors.New("no call is expected") }

// driver returns the driver for the repository.
func (at target) driver(client *http.Client) (*gitea.Server, error) {
	return gitea.New(gitea.Config{URL: at.URL, Owner: bot, Name: at.Name, Token: func(context.Context) (string, error) { return at.Token, nil }, Client: client, Now: time.Now})
}
