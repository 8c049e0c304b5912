package web

import (
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/access"
	"signalbox/internal/app/apptest"
	"signalbox/internal/config"
	"signalbox/internal/workflow"
)

// A page that is open when its user is taken out of the settings, or its link is revoked, is sent nothing more.
func TestAStreamEndsWithItsUsersAccess(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	p := apptest.Open(t, dir)
	run := runOf(t, p, 101, "shown")
	handler, err := New(t.Context(), Config{Projects: map[string]Open{"demo": opens(dir), "cellar": opens(dir)}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	token, hash := access.NewToken("eve")
	var settings atomic.Pointer[config.Serve]
	set := func(users map[string]config.ServeUser) {
		s := config.DefaultUser().Serve
		s.Listen, s.Users = server.Listener.Addr().String(), users
		settings.Store(&s)
	}
	set(map[string]config.ServeUser{"eve": {Role: "viewer", Token: hash}})
	guard, err := access.New(access.Config{Folder: filepath.Join(t.TempDir(), "serve"), Settings: func() (config.Serve, error) { return *settings.Load(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = guard.Close() }()
	server.Config.Handler = guard.Protect(handler)
	server.Start()
	defer server.Close()
	defer server.CloseClientConnections()

	operator := access.With(t.Context(), access.User{Name: "me", Role: access.Operator})
	page := "/p/demo/runs/" + run.RequestID
	link, path, err := guard.Share(operator, run.RunID, page, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	guest := &visitor{TB: t, at: server.URL, Client: http.Client{Timeout: 30 * time.Second}}
	if guest.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	guest.asks(http.MethodGet, path, "en", nil)
	if status, body, _ := guest.asks(http.MethodGet, page, "en", nil); status != http.StatusOK || !strings.Contains(body, "shown") || strings.Contains(body, "cellar") {
		t.Errorf("the link shows %d: %s", status, body)
	}
	eve := &visitor{TB: t, at: server.URL, Client: http.Client{Timeout: 30 * time.Second, Transport: authorized(token)}}
	board, endBoard := eve.events("/p/demo/events")
	defer endBoard()
	board("board")
	shared, endShared := guest.events(page + "/events?last=1/2/none%0Aevent:%20evil%0A%0A/0")
	defer endShared()
	if id, _ := shared("parts"); !strings.HasSuffix(id, "//0") {
		t.Errorf("the first event is named %q", id)
	}

	set(nil)
	if err := guard.Revoke(operator, link.ID); err != nil {
		t.Fatal(err)
	}
	save(t, p, &run, func(r *workflow.Run) { r.Error.Title = "changed since" })
	for name, lines := range map[string]func(string) (string, string){"the board": board, "the run": shared} {
		if _, data := lines(ended); data != "" {
			t.Errorf("%s still sends %s", name, data)
		}
	}
}

type authorized string

func (token authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}
