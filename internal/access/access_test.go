package access_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/access"
	"signalbox/internal/config"
	"signalbox/internal/language"
	"signalbox/internal/redact"
)

// site is a server behind a guard, as serve has it, with the pages of a project with two runs.
type site struct {
	testing.TB
	*access.Guard
	folder, address string
	mu              sync.Mutex
	settings        config.Serve
	broken          error
	ahead           time.Duration
	// sent are lines for those who follow /events, ends has how each of their requests ended.
	sent chan string
	ends chan error
	stop func()
}

func (s *site) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

// later moves the clock.
func (s *site) later(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += by
}

// set changes the settings, as the user does in the file.
func (s *site) set(change func(*config.Serve)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.settings)
}

type option func(*access.Config, *config.Serve)

func newSite(t testing.TB, options ...option) *site {
	t.Helper()
	s := &site{TB: t, folder: filepath.Join(t.TempDir(), "serve"), sent: make(chan string, 10), ends: make(chan error, 10), settings: config.DefaultUser().Serve}
	s.serve(options...)
	t.Cleanup(func() { s.stop() })
	return s
}

// serve begins the server; stop ends it, and it may begin anew, as after a restart.
func (s *site) serve(options ...option) {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.address = l.Addr().String()
	s.settings.Listen = s.address
	c := access.Config{Folder: s.folder, Local: access.User{Name: "me", Role: access.Approver}, Redact: redact.New(map[string]string{"KEY": "sesame-open-sesame"}), Now: s.now,
		Settings: func() (config.Serve, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.settings, s.broken
		}}
	for _, o := range options {
		o(&c, &s.settings)
	}
	if s.Guard, err = access.New(c); err != nil {
		s.Fatal(err)
	}
	server := s.Server(s.Protect(s.pages()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.Listener(l)) }()
	s.stop = sync.OnceFunc(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			s.Error(err)
		}
		_ = s.Close()
	})
}

func (s *site) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		u := access.From(r.Context())
		_, _ = fmt.Fprintf(w, "%s %s %s", u.Name, u.Role, u.Only)
	})
	mux.Handle("POST /runs/{run}/approve", access.Require(access.Approver, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.Audit().Do(r.Context(), access.Act{What: "approve", Run: r.PathValue("run"), Commit: "c0ffee", Detail: r.FormValue("text")}, func() error { return nil })
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})))
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		s.ends <- err
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		}
	})
	mux.HandleFunc("POST /stream", func(w http.ResponseWriter, r *http.Request) { // as MCP answers
		_, _ = io.Copy(io.Discard, r.Body)
		s.stream(w, r)
	})
	mux.HandleFunc("GET /events", s.stream)
	mux.HandleFunc("GET /huge", func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for {
			if _, err := w.Write(chunk); err != nil {
				s.ends <- err
				return
			}
		}
	})
	return mux
}

func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for {
		select {
		case line := <-s.sent:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// browser has cookies, and follows nothing by itself.
type browser struct {
	testing.TB
	http.Client
	at string
}

func (s *site) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &browser{s.TB, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, "http://" + s.address}
}

// does sends a request, with headers as name: value, and returns status and body.
func (b *browser) does(method, path, body string, headers ...string) (int, string, http.Header) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.at+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	response, err := b.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return response.StatusCode, string(data), response.Header
}

// wants checks a status.
func (b *browser) wants(status int, method, path, body string, headers ...string) string {
	b.Helper()
	got, text, _ := b.does(method, path, body, headers...)
	if got != status {
		b.Errorf("%s %s %v: %d %q, want %d", method, path, headers, got, text, status)
	}
	return text
}

// entered is a browser that used a one-time address.
func (s *site) entered() *browser {
	s.Helper()
	path, err := s.Ticket(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	b := s.browser()
	b.wants(http.StatusOK, "GET", path, "")
	return b
}

// user adds a user and returns the token.
func (s *site) user(name, role string) string {
	token, hash := access.NewToken(name)
	s.set(func(c *config.Serve) {
		users := map[string]config.ServeUser{name: {Role: role, Token: hash}}
		for other, u := range c.Users {
			if other != name {
				users[other] = u
			}
		}
		c.Users = users
	})
	return token
}

// records are the lines of the record.
func (s *site) records() (lines []map[string]any) {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.folder, "audit.jsonl"))
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			s.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, v)
	}
	return lines
}

func TestAOneTimeAddressLogsInOnceAndSoon(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, thief := s.browser(), s.browser()
	b.wants(http.StatusSeeOther, "GET", "/", "", "Accept: text/html")
	b.wants(http.StatusServiceUnavailable, "GET", path, "", "Sec-Purpose: prefetch")
	_, text, h := b.does("GET", path, "")
	if !strings.Contains(text, `content="0; url=/"`) {
		t.Errorf("leads nowhere: %s", text)
	}
	c := h.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(c, want) {
			t.Errorf("the cookie %q is not %s", c, want)
		}
	}
	if got := b.wants(http.StatusOK, "GET", "/", ""); got != "me approver " {
		t.Errorf("I am %q", got)
	}
	thief.wants(http.StatusForbidden, "GET", path, "")
	thief.wants(http.StatusUnauthorized, "GET", "/", "")

	late, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.later(11 * time.Minute)
	thief.wants(http.StatusForbidden, "GET", late, "")
	thief.wants(http.StatusForbidden, "GET", "/enter?token=", "")
	thief.wants(http.StatusForbidden, "GET", "/enter", "")
}

func TestAnotherSiteLocksNoOneOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, navigates := s.browser(), "Sec-Fetch-Mode: navigate"
	for _, dest := range []string{"iframe", "frame", "embed", "object"} {
		b.wants(http.StatusForbidden, "GET", path, "", navigates, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: "+dest)
	}
	for range 11 {
		b.wants(http.StatusForbidden, "GET", "/enter?token=x", "", navigates, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document")
	}
	b.wants(http.StatusForbidden, "GET", "/enter?token=x", "", navigates, "Sec-Fetch-Site: none", "Sec-Fetch-Dest: document")
	for range 10 { // a program of this machine
		b.does("GET", "/enter?token=x", "")
	}
	b.wants(http.StatusTooManyRequests, "GET", "/enter?token=x", "")
	b.wants(http.StatusOK, "GET", path, "", navigates, "Sec-Fetch-Site: none", "Sec-Fetch-Dest: document")
	b.wants(http.StatusOK, "GET", "/", "")
}

func TestASessionOutlivesARestartAndCanBeEnded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b, other := s.entered(), s.entered()
	port := s.address
	s.stop()
	s.serve()
	cookies := b.Jar.Cookies(&url.URL{Scheme: "http", Host: port})
	again := s.browser()
	value := cookies[0].Value
	_, newPort, _ := net.SplitHostPort(s.address)
	header := "Cookie: signalbox-" + newPort + "=" + value // another port has another name
	again.wants(http.StatusOK, "GET", "/", "", header)
	again.wants(http.StatusSeeOther, "POST", "/logout", "", header)
	again.wants(http.StatusUnauthorized, "GET", "/", "", header)

	twice := s.entered()
	first := "Cookie: " + twice.Jar.Cookies(&url.URL{Scheme: "http", Host: s.address})[0].String()
	path, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	twice.wants(http.StatusOK, "GET", path, "") // a new login ends the one before
	twice.wants(http.StatusOK, "GET", "/", "")
	again.wants(http.StatusUnauthorized, "GET", "/", "", first)

	second := "Cookie: signalbox-" + newPort + "=" + other.Jar.Cookies(&url.URL{Scheme: "http", Host: port})[0].Value
	third := s.entered()
	again.wants(http.StatusOK, "GET", "/", "", second)
	third.wants(http.StatusSeeOther, "POST", "/logout", "everywhere=1")
	again.wants(http.StatusUnauthorized, "GET", "/", "", second)

	last := s.entered()
	s.later(31 * 24 * time.Hour)
	last.wants(http.StatusUnauthorized, "GET", "/", "")
	data, err := os.ReadFile(filepath.Join(s.folder, "access.json"))
	if err != nil || bytes.Contains(data, []byte(value)) {
		t.Errorf("the file has the cookie: %s, %v", data, err)
	}
}

func TestForgedAndFixedCookiesAreNoLogin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, port, _ := net.SplitHostPort(s.address)
	thief := s.browser()
	data, err := os.ReadFile(filepath.Join(s.folder, "access.json"))
	if err == nil {
		t.Errorf("there is a session: %s", data)
	}
	mine := s.entered()
	var book struct {
		Sessions []struct{ Fingerprint string }
	}
	if data, err = os.ReadFile(filepath.Join(s.folder, "access.json")); err != nil || json.Unmarshal(data, &book) != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{"", "x", book.Sessions[0].Fingerprint, strings.Repeat("A", 26), strings.Repeat("x", 10_000)} {
		thief.wants(http.StatusUnauthorized, "GET", "/", "", "Cookie: signalbox-"+port+"="+forged)
	}
	// A secret that the thief planted before the login is none after it.
	planted := "Cookie: signalbox-" + port + "=PLANTED"
	path, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	victim := s.browser()
	_, _, h := victim.does("GET", path, "", planted)
	if strings.Contains(h.Get("Set-Cookie"), "PLANTED") {
		t.Error("the planted secret is the session's")
	}
	thief.wants(http.StatusUnauthorized, "GET", "/", "", planted)
	mine.wants(http.StatusOK, "GET", "/", "")
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *access.Config, c *config.Serve) { c.Names = []string{"box.example.org"} })
	b := s.entered()
	_, port, _ := net.SplitHostPort(s.address)
	for name, attack := range map[string]struct {
		status  int
		method  string
		headers []string
	}{
		"DNS rebinding":                   {http.StatusMisdirectedRequest, "GET", []string{"Host: evil.example.org:" + port}},
		"DNS rebinding without a port":    {http.StatusMisdirectedRequest, "GET", []string{"Host: evil.example.org"}},
		"a name that begins like ours":    {http.StatusMisdirectedRequest, "GET", []string{"Host: localhost.evil.example.org"}},
		"another address":                 {http.StatusMisdirectedRequest, "GET", []string{"Host: 192.0.2.1"}},
		"a form of another site":          {http.StatusForbidden, "POST", []string{"Origin: https://evil.example.org"}},
		"a form as the browser says":      {http.StatusForbidden, "POST", []string{"Sec-Fetch-Site: cross-site"}},
		"a form of a neighbouring name":   {http.StatusForbidden, "POST", []string{"Sec-Fetch-Site: same-site"}},
		"a form of no site":               {http.StatusForbidden, "POST", []string{"Origin: null"}},
		"a picture on another site":       {http.StatusForbidden, "GET", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}},
		"events read by another site":     {http.StatusForbidden, "GET", []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"}},
		"a WebSocket of another site":     {http.StatusForbidden, "GET", []string{"Connection: Upgrade", "Upgrade: websocket", "Origin: http://evil.example.org"}},
		"a WebSocket of another port":     {http.StatusForbidden, "GET", []string{"Connection: Upgrade", "Upgrade: websocket", "Origin: http://127.0.0.1:1"}},
		"a WebSocket of another scheme":   {http.StatusForbidden, "GET", []string{"Connection: Upgrade", "Upgrade: websocket", "Origin: https://" + s.address}},
		"a WebSocket that hides its site": {http.StatusForbidden, "GET", []string{"Connection: Upgrade", "Upgrade: WebSocket"}},
		"our page":                        {http.StatusOK, "POST", []string{"Origin: http://" + s.address, "Sec-Fetch-Site: same-origin"}},
		"our WebSocket":                   {http.StatusOK, "GET", []string{"Connection: Upgrade", "Upgrade: websocket", "Origin: http://" + s.address}},
		"a link on another site":          {http.StatusOK, "GET", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}},
		"a name that is configured":       {http.StatusUnauthorized, "GET", []string{"Host: Box.example.org"}}, // without the cookie of that name
	} {
		path := map[string]string{"GET": "/", "POST": "/runs/R1/approve"}[attack.method]
		headers := append([]string{"Cookie: " + b.Jar.Cookies(&url.URL{Scheme: "http", Host: s.address})[0].String()}, attack.headers...)
		if got, text, _ := s.browser().does(attack.method, path, "", headers...); got != attack.status {
			t.Errorf("%s: %d %q, want %d", name, got, text, attack.status)
		}
	}
}

func TestBehindAProxyWithACertificateTheBrowserAndTheClientCount(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *access.Config, c *config.Serve) { c.Names = []string{"box.example.org"} })
	path, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	_, _, h := b.does("GET", path, "", "Host: box.example.org", "X-Forwarded-For: 192.0.2.66, 2001:db8::7")
	cookie, rest, _ := strings.Cut(h.Get("Set-Cookie"), ";")
	if !strings.HasPrefix(cookie, "__Host-signalbox=") || !strings.Contains(rest, "Secure") {
		t.Errorf("the cookie is %s;%s", cookie, rest)
	}
	b.wants(http.StatusOK, "GET", "/", "", "Host: box.example.org", "Cookie: "+cookie, "Connection: Upgrade", "Upgrade: websocket", "Origin: https://box.example.org")
	b.wants(http.StatusForbidden, "GET", "/", "", "Host: box.example.org", "Cookie: "+cookie, "Connection: Upgrade", "Upgrade: websocket", "Origin: http://box.example.org")
	for range 10 {
		b.does("GET", "/enter?token=x", "", "Host: box.example.org", "X-Forwarded-For: 192.0.2.66")
	}
	b.wants(http.StatusTooManyRequests, "GET", "/enter?token=x", "", "Host: box.example.org", "X-Forwarded-For: 192.0.2.1, 192.0.2.66")
	b.wants(http.StatusForbidden, "GET", "/enter?token=x", "", "Host: box.example.org", "X-Forwarded-For: 192.0.2.66, 192.0.2.1")
	b.wants(http.StatusForbidden, "GET", "/enter?token=x", "", "X-Forwarded-For: 192.0.2.66") // not by the proxy
	if from := s.records()[0]["from"]; from != "2001:db8::" {
		t.Errorf("the login came from %v", from)
	}
}

func TestEveryAnswerForbidsWhatAPageDoesNotNeed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/", "/login", "/nowhere"} {
		_, _, h := s.entered().does("GET", path, "")
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"} {
			if !strings.HasPrefix(h.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		for _, want := range []string{"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "object-src 'none'", "connect-src 'self'"} {
			if p := h.Get("Content-Security-Policy"); !strings.Contains(p, want) || strings.Contains(p, "unsafe") {
				t.Errorf("%s: the policy is %q", path, p)
			}
		}
	}
	text := s.browser().wants(http.StatusOK, "GET", "/login?next=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "")
	if strings.Contains(text, "<script") || strings.Contains(text, "style=") {
		t.Errorf("the page has a script or a style: %s", text)
	}
}

func TestALoginLeadsToPagesOfOursAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.user("anna", "viewer")
	for next, want := range map[string]string{"/runs/R1?x=1": "/runs/R1?x=1", "https://evil.example.org/": "/", "//evil.example.org": "/", "///evil.example.org": "/", `/\evil.example.org`: "/", "/\t/evil.example.org": "/",
		"javascript:alert(1)": "/", "/%2f/evil.example.org": "/", "": "/", "/\r\nSet-Cookie: a=b": "/", "/\u202egro.live": "/"} {
		_, text, h := s.browser().does("POST", "/login", url.Values{"token": {token}, "next": {next}}.Encode())
		if !strings.Contains(text, fmt.Sprintf(`<a href="%s">`, want)) || h.Get("Location") != "" || len(h.Values("Set-Cookie")) != 1 {
			t.Errorf("%q leads to %s", next, text)
		}
	}
	_, _, h := s.browser().does("GET", "/runs/R1?a=b", "", "Accept: text/html")
	if got := h.Get("Location"); got != "/login?next=%2Fruns%2FR1%3Fa%3Db" {
		t.Errorf("asks for a login at %q", got)
	}
	_, text, h := s.browser().does("GET", "/runs/R1", "", "Accept: text/html", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
	if !strings.Contains(text, `url=/runs/R1`) || h.Get("Location") != "" {
		t.Errorf("a link from another site leads to %s", text)
	}
}

func TestARoleThatIsTakenAwayIsGoneWithTheNextRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.user("anna", "approver")
	b := s.browser()
	b.wants(http.StatusOK, "POST", "/login", "token="+token)
	b.wants(http.StatusOK, "POST", "/runs/R1/approve", "")
	bearer := "Authorization: Bearer " + token
	program := s.browser()
	program.wants(http.StatusOK, "POST", "/runs/R1/approve", "", bearer)
	s.set(func(c *config.Serve) {
		u := c.Users["anna"]
		u.Role = "viewer"
		c.Users = map[string]config.ServeUser{"anna": u}
	})
	for _, who := range []func(int, string, string){func(want int, method, path string) { b.wants(want, method, path, "") },
		func(want int, method, path string) { program.wants(want, method, path, "", bearer) }} {
		who(http.StatusForbidden, "POST", "/runs/R1/approve")
		who(http.StatusOK, "GET", "/")
	}
	renewed := s.user("anna", "approver")
	b.wants(http.StatusUnauthorized, "GET", "/", "")
	program.wants(http.StatusUnauthorized, "GET", "/", "", bearer)
	program.wants(http.StatusOK, "GET", "/", "", "Authorization: Bearer "+renewed)
	s.set(func(c *config.Serve) { c.Users = nil })
	program.wants(http.StatusUnauthorized, "GET", "/", "", "Authorization: Bearer "+renewed)
	s.set(func(*config.Serve) { s.broken = errors.New("line 3: broken") })
	s.browser().wants(http.StatusServiceUnavailable, "GET", "/", "")
}

func TestAClientThatGuessesTokensIsMadeToWait(t *testing.T) {
	t.Parallel()
	now := time.Now() // the time doesn't pass, however slow the machine is
	s := newSite(t, func(c *access.Config, _ *config.Serve) { c.Now = func() time.Time { return now } })
	token := s.user("anna", "viewer")
	b := s.browser()
	for _, wrong := range []string{"sbx_anna_AAAAAAAAAAAAAAAAAAAAAAAAAA", "sbx_nobody_AAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		b.wants(http.StatusForbidden, "POST", "/login", "token="+wrong)
	}
	for range 8 {
		b.wants(http.StatusForbidden, "GET", "/enter?token=x", "")
	}
	b.wants(http.StatusTooManyRequests, "POST", "/login", "token="+token)
	b.wants(http.StatusTooManyRequests, "GET", "/", "", "Authorization: Bearer "+token)
	b.wants(http.StatusTooManyRequests, "GET", "/enter?token=x", "")
	now = now.Add(10 * time.Second)
	b.wants(http.StatusOK, "POST", "/login", "token="+token)
	for _, odd := range []string{"Basic YTpi", "Bearer", "Bearer  ", "Bearer sbx__", "Bearer " + strings.Repeat("x", 9000)} {
		if got, _, _ := s.browser().does("GET", "/", "", "Authorization: "+odd); got == http.StatusOK {
			t.Errorf("%q is let through", odd[:min(len(odd), 20)])
		}
	}
}

func TestAShareLinkShowsOneRunUntilItEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	operator := access.With(t.Context(), access.User{Name: "me", Role: access.Operator})
	share := func(run string, lasts time.Duration) (access.Link, string) {
		l, path, err := s.Share(operator, run, "/p/demo/runs/"+run, lasts)
		if err != nil {
			t.Fatal(err)
		}
		return l, path
	}
	l, path := share("R1", time.Hour)
	guest := s.browser()
	text := guest.wants(http.StatusOK, "GET", path, "")
	if !strings.Contains(text, "url=/p/demo/runs/R1") {
		t.Errorf("leads to %s", text)
	}
	if got := guest.wants(http.StatusOK, "GET", "/p/demo/runs/R1", ""); got != "share link "+l.ID+" viewer R1" {
		t.Errorf("the guest is %q", got)
	}
	guest.wants(http.StatusOK, "GET", "/assets/style.css", "")
	guest.wants(http.StatusOK, "GET", "/p/demo/runs/R1/log/1", "")
	for _, refused := range [][2]string{{"GET", "/"}, {"GET", "/p/demo/runs/R2"}, {"GET", "/p/demo/runs/R1/../R2"}, {"GET", "/p/demo/runs/R1%2f..%2fR2"}, {"GET", "/assets/../runs/R2"}, {"GET", "/p/demo/runs/R11"}, {"GET", "/events"}, {"POST", "/p/demo/runs/R1/approve"}, {"POST", "/p/demo/runs/R1"}, {"DELETE", "/p/demo/runs/R1"}} {
		guest.wants(http.StatusForbidden, refused[0], refused[1], "")
	}
	guest.wants(http.StatusForbidden, "GET", "/p/demo/runs/R1", "", "Connection: Upgrade", "Upgrade: websocket", "Origin: http://"+s.address)
	if _, _, err := s.Share(access.With(t.Context(), access.User{Name: "guest", Role: access.Approver, Only: "R1"}), "R1", "/p/demo/runs/R1", time.Hour); err == nil {
		t.Error("a guest shares on")
	}
	if _, _, err := s.Share(access.With(t.Context(), access.User{Name: "anna", Role: access.Viewer}), "R1", "/p/demo/runs/R1", time.Hour); err == nil {
		t.Error("a viewer shares")
	}

	for _, other := range []string{"", "/", "/p/demo/", "/p/demo/runs", "/p/demo/runs/", "/p/demo/costs", "/p/demo/runs/R1/log/1", "/p/demo/runs/..", "/p/../runs/R1", "/p/demo/runs/R1?a=b", "/p/demo/runs/R1\n", "/p/demo/runs/%2e%2e", "//evil.example.org/p/demo/runs/R1"} {
		if _, _, err := s.Share(operator, "R1", other, time.Hour); err == nil {
			t.Errorf("%q is the page of a run", other)
		}
	}
	_, second := share("R2", time.Minute)
	parts, others := strings.Split(strings.TrimPrefix(path, "/share/"), "."), strings.Split(strings.TrimPrefix(second, "/share/"), ".")
	for name, forged := range map[string]string{"another run under the same seal": others[0] + "." + parts[1], "no seal": parts[0], "nothing": "", "half": parts[0][:8] + "." + parts[1]} {
		if got, text, _ := s.browser().does("GET", "/share/"+forged, ""); got != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, got, text)
		}
	}
	brief := s.browser()
	brief.wants(http.StatusOK, "GET", second, "")
	brief.wants(http.StatusOK, "GET", "/p/demo/runs/R2", "")
	s.later(2 * time.Minute)
	brief.wants(http.StatusForbidden, "GET", second, "")
	_, port, _ := net.SplitHostPort(s.address)
	kept := "Cookie: signalbox-share-" + port + "=" + strings.TrimPrefix(second, "/share/") // a browser that ignores the cookie's end
	s.browser().wants(http.StatusUnauthorized, "GET", "/p/demo/runs/R2", "", kept)

	guest.wants(http.StatusOK, "GET", "/p/demo/runs/R1", "")
	if err := s.Revoke(operator, l.ID); err != nil {
		t.Fatal(err)
	}
	guest.wants(http.StatusUnauthorized, "GET", "/p/demo/runs/R1", "")
	guest.wants(http.StatusForbidden, "GET", path, "")
	if links, err := s.Shares(); len(links) != 0 || err != nil {
		t.Errorf("there are still %v, %v", links, err)
	}
}

func TestAnOperatorSeesAndRevokesShareLinksOnTheirOwnPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b, guest := s.entered(), s.browser()
	l, path, err := s.Share(access.With(t.Context(), access.User{Name: "<b>ben", Role: access.Operator}), "R1", "/p/demo/runs/R1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	guest.wants(http.StatusOK, "GET", path, "")
	if text := b.wants(http.StatusOK, "GET", "/account", ""); !strings.Contains(text, "You are me, with the role approver.") || !strings.Contains(text, "R1, by &lt;b&gt;ben") || strings.Contains(text, strings.TrimPrefix(path, "/share/")) {
		t.Errorf("the page is %s", text)
	}
	viewer := "Authorization: Bearer " + s.user("vera", "viewer")
	for _, text := range []string{guest.wants(http.StatusOK, "GET", "/account", ""), s.browser().wants(http.StatusOK, "GET", "/account", "", viewer)} {
		if strings.Contains(text, l.ID+`"`) || strings.Contains(text, "R1") {
			t.Errorf("a viewer sees the links: %s", text)
		}
	}
	guest.wants(http.StatusForbidden, "POST", "/account/revoke", "id="+l.ID)
	s.browser().wants(http.StatusBadRequest, "POST", "/account/revoke", "id="+l.ID, viewer)
	guest.wants(http.StatusOK, "GET", "/p/demo/runs/R1", "")
	b.wants(http.StatusOK, "POST", "/account/revoke", "id="+l.ID)
	guest.wants(http.StatusUnauthorized, "GET", "/p/demo/runs/R1", "")
	b.wants(http.StatusMethodNotAllowed, "POST", "/account", "")
}

func TestAnOperatorMakesAShareLinkWhereTheRunsPageLeads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b, run := s.entered(), url.Values{"run": {"R1"}, "page": {"/p/demo/runs/7"}}
	if text := b.wants(http.StatusOK, "GET", "/account?"+run.Encode(), ""); !strings.Contains(text, `action="/account/share"`) || !strings.Contains(text, `value="/p/demo/runs/7"`) {
		t.Errorf("there is no form: %s", text)
	}
	viewer := "Authorization: Bearer " + s.user("vera", "viewer")
	if text := s.browser().wants(http.StatusOK, "GET", "/account?"+run.Encode(), "", viewer); strings.Contains(text, "/account/share") {
		t.Errorf("a viewer has the form: %s", text)
	}
	run.Set("days", "7")
	s.browser().wants(http.StatusBadRequest, "POST", "/account/share", run.Encode(), viewer)
	made := regexp.MustCompile(`value="http://[^/]+(/share/[^"]+)"`).FindStringSubmatch(b.wants(http.StatusOK, "POST", "/account/share", run.Encode()))
	if made == nil {
		t.Fatal("no link is made")
	}
	guest := s.browser()
	guest.wants(http.StatusOK, "GET", made[1], "")
	guest.wants(http.StatusOK, "GET", "/p/demo/runs/7", "")
	guest.wants(http.StatusForbidden, "POST", "/account/share", run.Encode())
	for _, wrong := range []string{"", "x", "0", "-1", "31", "106751991167"} {
		run.Set("days", wrong)
		b.wants(http.StatusBadRequest, "POST", "/account/share", run.Encode())
	}
}

func TestEveryTextOfTheLoginExists(t *testing.T) {
	t.Parallel()
	found := 0
	for _, file := range []string{"page.html", "login.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:Page |say\(r, )"([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			if found++; !language.HasPage(m[1]) {
				t.Errorf("%s has no text %q", file, m[1])
			}
		}
	}
	if found < 18 {
		t.Fatalf("only %d texts are found", found)
	}
}

func TestEveryActHasItsLines(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	viewer, approver := s.user("anna", "viewer"), s.user("ben", "approver")
	b := s.browser()
	b.wants(http.StatusForbidden, "POST", "/runs/R1/approve", "", "Authorization: Bearer "+viewer)
	b.wants(http.StatusOK, "POST", "/runs/R1%0d%0a%7b%22user%22:%22eve%22%7d/approve", url.Values{"text": {"sesame-open-sesame\r\n\x1b[2J{}\u202e"}}.Encode(), "Authorization: Bearer "+approver,
		"User-Agent: robot\u202e")
	b.wants(http.StatusUnauthorized, "GET", "/", "", "Authorization: Bearer sbx_ben_wrong")
	b.wants(http.StatusUnauthorized, "GET", "/", "", "Authorization: Basic YTpi") // is no login: anyone could fill the disk with such
	lines := s.records()
	if len(lines) != 3 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for i, outcome := range []string{"begun", "done"} {
		l := lines[i]
		if l["outcome"] != outcome || l["user"] != "ben" || l["role"] != "approver" || l["what"] != "approve" || l["commit"] != "c0ffee" || l["from"] != "127.0.0.1" || l["id"] != lines[0]["id"] {
			t.Errorf("line %d: %v", i, l)
		}
		for _, field := range []string{"run", "detail", "program"} {
			if text := l[field].(string); strings.ContainsAny(text, "\r\n\x1b\u202e") || strings.Contains(text, "sesame") {
				t.Errorf("%s is %q", field, text)
			}
		}
	}
	if l := lines[2]; l["outcome"] != "refused" || l["what"] != "login" {
		t.Errorf("the refused login is %v", l)
	}
	file := filepath.Join(s.folder, "audit.jsonl")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s.stop()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"at":"cut`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s.serve()
	s.entered()
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte("{\"at\":\"cut\n{")) {
		t.Errorf("a line follows the half one in the same line: %s, %v", data, err)
	}
}

func TestEveryFieldOfAnActIsCleanAndShort(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hostile := "sesame-open-sesame\r\n\x1b[2J\u202e" + strings.Repeat("x", 10_000)
	act := access.Act{What: hostile, Project: hostile, Run: hostile, Commit: hostile, Detail: hostile}
	if err := s.Audit().Do(access.With(t.Context(), access.User{Name: hostile, Role: access.Operator, Only: hostile}), act, func() error { return errors.New(hostile) }); err == nil {
		t.Error("the act failed in vain")
	}
	for _, l := range s.records() {
		for field, value := range l {
			if text := value.(string); len(text) > 600 || strings.ContainsAny(text, "\r\n\x1b\u202e") || strings.Contains(text, "sesame") {
				t.Errorf("%s is %q", field, text)
			}
		}
	}
}

func TestAnActThatCannotBeRecordedIsNotBegun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	audit := s.Audit()
	if err := s.Guard.Close(); err != nil {
		t.Fatal(err)
	}
	did := false
	if err := audit.Do(t.Context(), access.Act{What: "approve"}, func() error { did = true; return nil }); err == nil || did {
		t.Errorf("done %v, %v", did, err)
	}
}

// impatient has clients cut at once.
func impatient(c *access.Config, _ *config.Serve) { c.Patience = 50 * time.Millisecond }

func TestSlowAndLargeRequestsAreCutAndStreamsAreNot(t *testing.T) {
	t.Parallel()
	s := newSite(t, impatient)
	b := s.entered()
	cookie := b.Jar.Cookies(&url.URL{Scheme: "http", Host: s.address})[0].String()
	head := "Host: " + s.address + "\r\nCookie: " + cookie + "\r\n"
	dial := func(text string) net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		return c
	}
	stream := dial("POST /stream HTTP/1.1\r\n" + head + "Content-Length: 1\r\n\r\nx")
	events := dial("GET /events HTTP/1.1\r\n" + head + "\r\n")
	from := []*bufio.Reader{bufio.NewReader(stream), bufio.NewReader(events)}
	for _, r := range from {
		if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%q, %v", line, err)
		}
	}

	slow := dial("GET / HTTP/1.1\r\nHost: x")
	if text, err := io.ReadAll(slow); err != nil || len(text) > 0 && !bytes.Contains(text, []byte("408")) {
		t.Errorf("a slow header gets %q, %v", text, err)
	}
	dial("POST /echo HTTP/1.1\r\n" + head + "Content-Length: 10\r\n\r\nhalf")
	if err := <-s.ends; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a slow body ends with %v", err)
	}
	dial("GET /huge HTTP/1.1\r\n" + head + "\r\n") // and reads nothing of the answer
	if err := <-s.ends; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client that doesn't read ends with %v", err)
	}
	large := dial("GET / HTTP/1.1\r\n" + head + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n")
	if line, _ := bufio.NewReader(large).ReadString('\n'); !strings.Contains(line, "431") {
		t.Errorf("a large header gets %q", line)
	}

	for range from { // both streams are older than the patience by now
		s.sent <- "still here"
	}
	for i, r := range from {
		for line := ""; !strings.Contains(line, "still here"); {
			var err error
			if line, err = r.ReadString('\n'); err != nil {
				t.Fatalf("stream %d was cut: %v", i, err)
			}
		}
	}
}

func TestABadFormFillsNoLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := newSite(t, func(c *access.Config, _ *config.Serve) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	s.browser().wants(http.StatusBadRequest, "POST", "/login", "token=%zz")
	if s.stop(); log.Len() > 0 {
		t.Errorf("the log has %s", &log)
	}
}

func TestLargeBodiesAreCut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.entered()
	b.wants(http.StatusRequestEntityTooLarge, "POST", "/echo", strings.Repeat("x", 1<<20+1))
	if err := <-s.ends; err == nil {
		t.Error("a large body is read to its end")
	}
	b.wants(http.StatusRequestEntityTooLarge, "POST", "/login", "token="+strings.Repeat("x", 1<<20+1))
}

func TestAClientHasSoManyConnections(t *testing.T) {
	t.Parallel()
	from := make(chan net.Conn)
	l := (&access.Guard{}).Listener(feed(from))
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	var open []net.Conn
	for i := range 256 {
		from <- &remote{address: fmt.Sprintf("[2001:db8::%x]:9", i+1)}
		open = append(open, <-accepted)
	}
	beyond := &remote{address: "[2001:db8::ffff]:9", closed: make(chan struct{})}
	from <- beyond
	<-beyond.closed // before anything is read
	from <- &remote{address: "[2001:db8:0:1::1]:9"}
	<-accepted // another client's
	_ = open[0].Close()
	_ = open[0].Close() // twice counts once
	from <- &remote{address: "[2001:db8::1]:9"}
	<-accepted
	again := &remote{address: "[2001:db8::1]:9", closed: make(chan struct{})}
	from <- again
	<-again.closed
	close(from)
	<-accepted
}

// feed is a listener that accepts what comes from a channel.
type feed chan net.Conn

func (f feed) Accept() (net.Conn, error) {
	if c, ok := <-f; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (feed) Close() error   { return nil }
func (feed) Addr() net.Addr { return &net.TCPAddr{} }

type remote struct {
	net.Conn
	address string
	closed  chan struct{}
}

func (r *remote) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", r.address); return a }
func (r *remote) Close() error {
	if r.closed != nil {
		close(r.closed)
	}
	return nil
}

func TestRolesIncludeThoseBelow(t *testing.T) {
	t.Parallel()
	all := []access.Role{access.Viewer, access.Operator, access.Approver}
	for i, role := range all {
		if parsed, err := access.ParseRole(role.String()); parsed != role || err != nil {
			t.Errorf("%s: %v, %v", role, parsed, err)
		}
		for j, other := range all {
			if got := (access.User{Role: role}).May(other); got != (i >= j) {
				t.Errorf("%s may what %s may: %v", role, other, got)
			}
		}
	}
	if (access.User{}).May(0) || (access.User{}).Sees("R1") || (access.User{Role: access.Viewer, Only: "R1"}).Sees("R2") || access.From(context.Background()).May(access.Viewer) {
		t.Error("no role may something")
	}
	if _, err := access.ParseRole("none"); err == nil {
		t.Error("none is a role")
	}
}

func TestAUserWhoLogsInOftenDropsOnlyTheirOwnOldestSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	approver, token := s.entered(), url.Values{"token": {s.user("vera", "viewer")}}.Encode()
	oldest, newest := s.browser(), s.browser()
	oldest.wants(http.StatusOK, "POST", "/login", token)
	for range 49 {
		s.browser().wants(http.StatusOK, "POST", "/login", token)
	}
	oldest.wants(http.StatusOK, "GET", "/", "")
	newest.wants(http.StatusOK, "POST", "/login", token)
	oldest.wants(http.StatusUnauthorized, "GET", "/", "")
	newest.wants(http.StatusOK, "GET", "/", "")
	approver.wants(http.StatusOK, "GET", "/", "")

	share := func(name string) {
		if _, _, err := s.Share(access.With(t.Context(), access.User{Name: name, Role: access.Operator}), "R1", "/p/demo/runs/R1", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	share("anna")
	for range 51 {
		share("otto")
	}
	if links, err := s.Shares(); err != nil || len(links) != 51 || links[0].By != "anna" {
		t.Errorf("there are %d links, the oldest by %s, %v", len(links), links[0].By, err)
	}
}

func TestWrongTokensAtOnceAreLimitedToo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.user("ben", "approver")
	var group sync.WaitGroup
	answers := make(chan int, 100)
	for i := range 40 {
		group.Go(func() {
			status, _, _ := s.browser().does("GET", "/", "", fmt.Sprintf("Authorization: Bearer sbx_ben_WRONG%d", i))
			answers <- status
		})
	}
	group.Wait()
	close(answers)
	got := map[int]int{}
	for status := range answers {
		got[status]++
	}
	if refused := got[http.StatusUnauthorized]; refused < 10 || refused > 12 || refused+got[http.StatusTooManyRequests] != 40 { // the clock goes on meanwhile
		t.Errorf("the answers are %v", got)
	}
	s.later(time.Minute)
	for range 12 { // right ones cost no try
		s.browser().wants(http.StatusOK, "GET", "/", "", "Authorization: Bearer "+s.user("ben", "approver"))
	}
}

func TestAUserHasSoManyRequestsAtATimeAndAnAddressWithoutALoginFewer(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *access.Config, c *config.Serve) { c.Names = []string{"box.example.org"} })
	dial := func(head string) *bufio.Reader {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(c)
	}
	answers := func(r *bufio.Reader, want string) {
		t.Helper()
		if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Fatalf("%q, %v, want %s", line, err, want)
		}
	}
	vera, ben := "Authorization: Bearer "+s.user("vera", "viewer"), "Authorization: Bearer "+s.user("ben", "approver")
	for range 256 {
		answers(dial("GET /events HTTP/1.1\r\nHost: "+s.address+"\r\n"+vera+"\r\n\r\n"), "200")
	}
	s.browser().wants(http.StatusTooManyRequests, "GET", "/", "", vera)
	s.browser().wants(http.StatusOK, "GET", "/", "", ben)

	half := "POST /login HTTP/1.1\r\nHost: box.example.org\r\nX-Forwarded-For: 192.0.2.7\r\nContent-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
	for range 32 {
		answers(dial(half), "100") // it waits for the body
	}
	answers(dial(half), "429")
	from := []string{"Host: box.example.org", "X-Forwarded-For: 192.0.2.7"}
	s.browser().wants(http.StatusTooManyRequests, "GET", "/login", "", from...)
	s.browser().wants(http.StatusOK, "GET", "/", "", append(from, ben)...) // a login isn't in their way
	s.browser().wants(http.StatusOK, "GET", "/login", "", from[0], "X-Forwarded-For: 192.0.2.8")
	s.browser().wants(http.StatusRequestEntityTooLarge, "POST", "/login", "token="+strings.Repeat("x", 16<<10))
}
