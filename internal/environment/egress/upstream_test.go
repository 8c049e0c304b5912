package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// corporate is a proxy that requires its password and connects every request to the same server.
type corporate struct {
	*httptest.Server
	asked collected
}

func startCorporate(t *testing.T, server string) *corporate {
	t.Helper()
	c := &corporate{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(&c.asked, r.Method, r.Host)
		if r.Header.Get("Proxy-Authorization") != "Basic bWU6aHVudGVyMg==" { // me:hunter2
			http.Error(w, "", http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			_, _ = io.WriteString(w, "passed on: "+r.URL.String())
			return
		}
		conn, err := net.Dial("tcp", server)
		if err != nil {
			t.Error(err)
			return
		}
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
		tunnel(t.Context(), client, conn)
	}))
	t.Cleanup(c.Close)
	return c
}

// behind is a proxy of ours whose way out is another, but to localhost.
func behind(t *testing.T, p Policy, out string) *served {
	t.Helper()
	way, err := url.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	resolve := func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "known.example.org":
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		case "inner.example.org":
			return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
		case "localhost":
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return nil, errors.New("no such host")
	}
	return serveConfig(t, Config{Policy: p, Resolve: resolve, Proxy: func(u *url.URL) (*url.URL, error) {
		if u.Hostname() == "localhost" {
			return nil, nil
		}
		return way, nil
	}})
}

func TestAMachineBehindAProxyIsReachedThroughIt(t *testing.T) {
	t.Parallel()
	server := registry(t)
	corp := startCorporate(t, server)
	host, port, _ := net.SplitHostPort(server)
	_ = host
	s := behind(t, policy(t, []string{"known.example.org", "unknown-here.example.org", "localhost:" + port, ".inner.example.org"}, nil),
		strings.Replace(corp.URL, "http://", "http://me:hunter2@", 1))
	// The second name is one that only the proxy's own name server knows.
	for _, target := range []string{"known.example.org:443", "unknown-here.example.org:443"} {
		conn, reader, first := s.connect(t, target)
		if !strings.Contains(first, " 200 ") {
			t.Errorf("%s: %s", target, first)
			continue
		}
		_, _ = io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(reader), nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v", target, err)
		}
		_ = response.Body.Close()
	}
	if status, body := s.get(t, "http://known.example.org/y"); status != http.StatusOK || body != "passed on: http://known.example.org/y" {
		t.Errorf("a plain request: %d %q", status, body)
	}
	before := corp.asked.String()
	if status, _ := s.get(t, "http://localhost:"+port+"/z"); status != http.StatusOK || corp.asked.String() != before {
		t.Errorf("what needs no proxy: %d, asked %s", status, corp.asked.String())
	}
}

func TestAProxyIsAskedForNothingThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	corp := startCorporate(t, "127.0.0.1:1")
	s := behind(t, policy(t, []string{".example.org"}, nil), strings.Replace(corp.URL, "http://", "http://me:hunter2@", 1))
	for _, target := range []string{"evil.example.com:443", "inner.example.org:443", "169.254.169.254:80", "10.0.0.7:443"} {
		if _, _, first := s.connect(t, target); !strings.Contains(first, " 403 ") {
			t.Errorf("%s: %s", target, first)
		}
	}
	if status, _ := s.get(t, "http://inner.example.org/"); status != http.StatusForbidden {
		t.Errorf("a plain request: %d", status)
	}
	if asked := corp.asked.String(); asked != "" {
		t.Errorf("it was asked for %s", asked)
	}
}

func TestAProxyThatWantsAnotherPasswordIsNamedWithoutIt(t *testing.T) {
	t.Parallel()
	corp := startCorporate(t, "127.0.0.1:1")
	s := behind(t, policy(t, []string{"known.example.org"}, nil), strings.Replace(corp.URL, "http://", "http://me:wrongword@", 1))
	_, _, first := s.connect(t, "known.example.org:443")
	if want := "through this machine's proxy " + strings.TrimPrefix(corp.URL, "http://") + ": it answered 407 Proxy Authentication Required"; !strings.Contains(first, want) {
		t.Errorf("%s", first)
	}
	if all := first + s.log.String(); strings.Contains(all, "wrongword") {
		t.Errorf("the password is in %s", all)
	}
}

// serveConfig is serve with more of a configuration.
func serveConfig(t testing.TB, c Config) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String(), blocked: &collected{}, log: &collected{}}
	c.Logger = slog.New(slog.NewTextHandler(s.log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- New(c).Serve(ctx, []net.Listener{l}, func(host string) { _, _ = fmt.Fprintln(s.blocked, host) })
	}()
	s.stop = func() { cancel(); _ = l.Close() }
	t.Cleanup(func() {
		s.stop()
		if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}
