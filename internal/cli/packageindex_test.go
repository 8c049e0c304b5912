package cli_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// packageIndex serves the package "colour" as the registries of Go, Node and Python do, and the
// Maven repository of this machine. It listens where tools do not pass a proxy by, as they do
// for the loopback addresses.
type packageIndex struct {
	url, host string
	files     map[string][]byte
	doors     map[string]door

	mu       sync.Mutex
	troubles []trouble
	had      int
}

// door is a path that tells when it is asked for, and answers when it is opened.
type door struct{ asked, open chan struct{} }

// waits makes a door of a path.
func (x *packageIndex) waits(path string) (asked <-chan struct{}, open chan<- struct{}) {
	g := door{make(chan struct{}, 1), make(chan struct{})}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.doors[path] = g
	return g.asked, g.open
}

// trouble is what becomes of one request instead of an answer.
type trouble func(http.ResponseWriter)

func busy(w http.ResponseWriter) { http.Error(w, "come back later", http.StatusServiceUnavailable) }

func resets(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.(*net.TCPConn).SetLinger(0) // so that closing sends a reset
	_ = connection.Close()
}

func newPackageIndex(t *testing.T) *packageIndex {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(ownAddress(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	x := &packageIndex{url: "http://" + listener.Addr().String(), doors: map[string]door{},
		files: map[string][]byte{"/ready": []byte("ready\n")}}
	x.host, _, _ = net.SplitHostPort(listener.Addr().String())
	x.goModule(t)
	x.npmPackage(t)
	x.wheel(t)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: x}}
	server.Start()
	t.Cleanup(server.Close)
	return x
}

// ownAddress is one of this machine that is not a loopback address.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if ip, ok := address.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	lacks(t, "a network address beside the loopback ones")
	return ""
}

// fail has the next requests for what there is fail, one trouble each.
func (x *packageIndex) fail(troubles ...trouble) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.troubles, x.had = troubles, 0
}

// troubled is how many requests failed since.
func (x *packageIndex) troubled() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.had
}

func (x *packageIndex) next() trouble {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.had == len(x.troubles) {
		return nil
	}
	x.had++
	return x.troubles[x.had-1]
}

// knock waits where the path has a door.
func (x *packageIndex) knock(r *http.Request) {
	x.mu.Lock()
	d, ok := x.doors[r.URL.Path]
	x.mu.Unlock()
	if !ok {
		return
	}
	select {
	case d.asked <- struct{}{}:
	default: // somebody asked before
	}
	select {
	case <-d.open:
	case <-r.Context().Done():
	}
}

func (x *packageIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.knock(r)
	if strings.HasPrefix(r.URL.Path, "/maven/") {
		http.StripPrefix("/maven", http.FileServer(http.Dir(debianMaven))).ServeHTTP(w, r)
		return
	}
	content, ok := x.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r) // such as questions about vulnerabilities, which nobody waits for
		return
	}
	if trouble := x.next(); trouble != nil {
		trouble(w)
		return
	}
	w.Header().Set("Content-Type", http.DetectContentType(content))
	_, _ = w.Write(content)
}
