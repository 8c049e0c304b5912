package github_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
)

var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// startApp returns a stand-in and the driver of an App that is installed there. The App finds its installation itself.
func startApp(t *testing.T) (*githubtest.Server, *github.Server) {
	t.Helper()
	s := githubtest.New(t)
	c := config(s)
	c.Token, c.App = nil, installed(t, s)
	return s, open(t, c)
}

func installed(t *testing.T, s *githubtest.Server) *github.App {
	t.Helper()
	key := must(appKey())(t)
	s.With(func(st *githubtest.State) { st.AppKey, st.AppID, st.Installation = &key.PublicKey, "Iv1.app", 55 })
	return &github.App{ID: "Iv1.app", Key: key}
}

func minted(s *githubtest.Server) (count int) {
	s.With(func(st *githubtest.State) { count = len(st.Minted) })
	return count
}

func TestAnAppsTokenIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	s, driver := startApp(t)
	ask := func() {
		if who := must(driver.Whoami(t.Context()))(t); who != (forge.Account{Name: githubtest.Robot, Bot: true}) {
			t.Fatalf("the App is %+v", who)
		}
	}
	pass := func(d time.Duration) { s.With(func(st *githubtest.State) { st.Now = st.Now.Add(d) }) }
	for range 3 {
		ask()
	}
	pass(54 * time.Minute)
	if ask(); minted(s) != 1 {
		t.Errorf("%d tokens after 54 minutes, want 1", minted(s))
	}
	pass(time.Minute)
	if ask(); minted(s) != 2 {
		t.Errorf("%d tokens after 55 minutes, want 2", minted(s))
	}
	pass(24 * time.Hour)
	if ask(); minted(s) != 3 {
		t.Errorf("%d tokens after a day, want 3", minted(s))
	}
}

func TestARevokedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	s, driver := startApp(t)
	must(driver.Repository(t.Context()))(t)
	revoke := func() {
		s.With(func(st *githubtest.State) {
			for token := range st.Minted {
				st.Minted[token] = time.Time{}
			}
		})
	}
	revoke()
	number := must(driver.CreateIssue(t.Context(), "After the end", "body"))(t).Number
	if got := must(driver.Issue(t.Context(), number))(t); got.Title != "After the end" || minted(s) != 2 {
		t.Errorf("made %+v with %d tokens", got, minted(s))
	}
	s.Inject(githubtest.Fault{Path: "/issues", Times: -1, Status: 401, Body: `{"message":"Bad credentials"}`})
	_, err := driver.CreateIssue(t.Context(), "Never", "")
	wantFailure(t, err, forge.Failure{Kind: forge.Unauthorized, Status: 401})
}

// A machine's clock that is off by more than a JWT lasts is made up for by GitHub's own.
func TestAnAppWorksWithAWrongClock(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-3 * time.Hour, -30 * time.Second, 30 * time.Second, 3 * time.Hour} {
		s := githubtest.New(t)
		c := config(s)
		c.Token, c.App = nil, installed(t, s)
		right := c.Now
		c.Now = func() time.Time { return right().Add(off) }
		driver := open(t, c)
		for range 2 {
			if _, err := driver.Whoami(t.Context()); err != nil {
				t.Errorf("off by %s: %v", off, err)
			}
		}
		if minted(s) != 1 {
			t.Errorf("off by %s: %d tokens", off, minted(s))
		}
	}
}

func TestAnAppThatIsNotInstalledSaysSo(t *testing.T) {
	t.Parallel()
	s, driver := startApp(t)
	s.With(func(st *githubtest.State) { st.Installation = 0 })
	_, err := driver.Repository(t.Context())
	if wantIs(t, err, forge.ErrNotFound); err == nil || !strings.Contains(err.Error(), "installation") {
		t.Errorf("the error is %v", err)
	}
}

func TestAKeyIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	key := must(appKey())(t)
	eight := must(x509.MarshalPKCS8PrivateKey(key))(t)
	dir := t.TempDir()
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(dir, name)
		text := content
		if kind != "" {
			text = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
		}
		ok(t, os.WriteFile(file, text, 0o600))
		return file
	}
	for _, file := range []string{write("1", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), write("8", "PRIVATE KEY", eight)} {
		if got, err := github.ReadKey(file); err != nil || !got.Equal(key) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, file := range []string{write("text", "", []byte("not a key")), write("other", "PRIVATE KEY", []byte("rubbish")), filepath.Join(dir, "missing")} {
		if _, err := github.ReadKey(file); err == nil {
			t.Errorf("%s is a key", file)
		}
	}
}
