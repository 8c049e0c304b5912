package egress

import (
	"bufio"
	"bytes"
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
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a proxy at work and what it said.
type served struct {
	address string
	blocked *collected
	log     *collected
	stop    func() // returns when Serve did
}

// collected is text from several goroutines.
type collected struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *collected) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *collected) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func serve(t testing.TB, p Policy, resolve func(context.Context, string) ([]netip.Addr, error)) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String(), blocked: &collected{}, log: &collected{}}
	proxy := New(Config{Policy: p, Resolve: resolve, Logger: slog.New(slog.NewTextHandler(s.log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- proxy.Serve(ctx, []net.Listener{l}, func(host string) { _, _ = fmt.Fprintln(s.blocked, host) })
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// client is one that goes through the proxy whatever the address.
func (s *served) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: s.address})}}
}

func (s *served) get(t testing.TB, address string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// connect asks for a tunnel and returns it with the first line of the answer.
func (s *served) connect(t testing.TB, target string) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	line, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for header := line; strings.TrimSpace(header) != ""; {
		if header, err = reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return conn, reader, strings.TrimSpace(line)
}

func registry(t testing.TB) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s %q", r.Method, r.Host, body, r.Header["Proxy-Authorization"])
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestANamedHostIsReachedOverHTTPAndThroughATunnel(t *testing.T) {
	t.Parallel()
	address := registry(t)
	s := serve(t, policy(t, []string{address}, nil), nil)
	if status, body := s.get(t, "http://"+address+"/x"); status != 200 || body != "GET "+address+"  []" {
		t.Errorf("got %d %q", status, body)
	}
	conn, reader, line := s.connect(t, address)
	if line != "HTTP/1.1 200 Connection established" {
		t.Fatalf("got %q", line)
	}
	_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nConnection: close\r\n\r\nsent")
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "POST h sent []" {
		t.Errorf("got %q, %v", body, err)
	}
	if s.blocked.String() != "" {
		t.Errorf("blocked %q", s.blocked)
	}
}

func TestAnotherHostIsRefusedAndNamedOnce(t *testing.T) {
	t.Parallel()
	address := registry(t)
	s := serve(t, policy(t, nil, nil), nil)
	for range 3 {
		if status, body := s.get(t, "http://"+address+"/"); status != http.StatusForbidden || !strings.Contains(body, "environment.allow") {
			t.Errorf("got %d %q", status, body)
		}
	}
	if _, _, line := s.connect(t, "example.org:443"); line != "HTTP/1.1 403 blocked: example.org is not in environment.allow" {
		t.Errorf("got %q", line)
	}
	if got := s.blocked.String(); got != address+"\nexample.org\n" {
		t.Errorf("blocked %q", got)
	}
	if got := strings.Count(s.log.String(), "\n"); got != 2 || !strings.Contains(s.log.String(), "host=example.org setting=environment.allow") {
		t.Errorf("log %q", s.log)
	}
}

func answers(addresses ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) (found []netip.Addr, err error) {
		for _, a := range addresses {
			found = append(found, netip.MustParseAddr(a))
		}
		return found, nil
	}
}

func TestAPublicNameWithAPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	_, port, _ := net.SplitHostPort(registry(t))
	for _, address := range []string{"127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0"} {
		s := serve(t, policy(t, []string{".example.org:" + port}, nil), answers(address))
		if _, _, line := s.connect(t, "evil.example.org:"+port); !strings.HasPrefix(line, "HTTP/1.1 403 blocked: evil.example.org:"+port+" has an address that is not on the internet") {
			t.Errorf("%s: got %q", address, line)
		}
	}
}

// A name server that answers with another address at the second question is never asked one.
func TestANameIsResolvedOnceAndNeverBelievedAgain(t *testing.T) {
	t.Parallel()
	address := registry(t)
	_, port, _ := net.SplitHostPort(address)
	var asked int
	s := serve(t, policy(t, []string{"registry.example.org:" + port}, nil), func(context.Context, string) ([]netip.Addr, error) {
		if asked++; asked > 1 {
			return answers("169.254.169.254")(nil, "")
		}
		return answers("127.0.0.1")(nil, "")
	})
	if status, body := s.get(t, "http://registry.example.org:"+port+"/"); status != 200 || !strings.Contains(body, "registry.example.org:"+port) {
		t.Errorf("got %d %q", status, body)
	}
	s.stop()
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestAnythingButAProxyRequestIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, policy(t, nil, nil), nil)
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n",
		"GET https://registry.npmjs.org/ HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n",
		"GET ftp://registry.npmjs.org/ HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n",
		"CONNECT registry.npmjs.org HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n",
		"CONNECT registry.npmjs.org:x HTTP/1.1\r\nHost: registry.npmjs.org:x\r\n\r\n",
		"CONNECT [fe80::1%25eth0]:80 HTTP/1.1\r\nHost: [fe80::1%25eth0]:80\r\n\r\n",
		"\x16\x03\x01 garbage\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
		_, _ = io.WriteString(conn, request)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 400 ") {
			t.Errorf("%q: got %q, %v", request, line, err)
		}
		_ = conn.Close()
	}
}

func TestAHeaderWithoutEndIsCutOff(t *testing.T) {
	t.Parallel()
	s := serve(t, policy(t, nil, nil), nil)
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	_, _ = io.WriteString(conn, "GET http://registry.npmjs.org/ HTTP/1.1\r\nX: ")
	_, _ = conn.Write(bytes.Repeat([]byte("x"), 4*maxHeader)) // it may be closed before all is sent
	answer, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) || len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 431 ")) {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestOpenTunnelsEndWithTheCommand(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	s := serve(t, policy(t, []string{silent.Addr().String()}, nil), nil)
	conn, reader, line := s.connect(t, silent.Addr().String())
	if !strings.Contains(line, "200") {
		t.Fatal(line)
	}
	s.stop()
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the tunnel is still there")
	}
	_ = conn.Close()
}

func TestFurtherConnectionsWaitForAPlace(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	few := newLimited(l, 2)
	var accepted [3]net.Conn
	for range accepted {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	for i := range 2 {
		if accepted[i], err = few.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	third := make(chan error)
	go func() {
		var err error
		accepted[2], err = few.Accept()
		third <- err
	}()
	select {
	case err := <-third:
		t.Fatal(err, "a third connection was accepted")
	case <-time.After(50 * time.Millisecond):
	}
	_ = accepted[0].Close()
	if err := <-third; err != nil {
		t.Fatal(err)
	}
	_ = few.Close()
	_ = accepted[1].Close()
	_ = accepted[2].Close()
	few.drain()
	if _, err := few.Accept(); err == nil {
		t.Error("accepted after it was closed")
	}
}
