package environmenttest

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/environment/egress"
)

// networkTests need Harness.Connected.
var networkTests = []conformance{
	{"with the whole network a command reaches what this machine does", testFullNetwork},
	{"with the network of registries a command reaches the named hosts, and learns which were blocked", testNamedHosts},
	{"whatever the network, a command reaches what it must, at the same address, its own loopback interface, and nothing else", testMustReach},
	{"what a command may reach changes nothing else of it", testOtherwiseTheSame},
	{"a command without the whole network reaches nothing of this machine", testOutOfReach},
}

// connected returns a new site whose commands have this network access.
func (s *site) connected(t *testing.T, network string, allow ...string) *site {
	t.Helper()
	policy, err := egress.NewPolicy(allow, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &site{Harness: s.Harness, spec: s.Project.Spec(network)}
	c.Driver = s.Connected(t, network, policy)
	c.Environment = c.make(t, c.spec)
	return c
}

func testFullNetwork(t *testing.T, s *site) {
	host := "127.0.0.1"
	if s.OwnSystem { // its loopback interface is its own, so use another address of this machine
		addresses, err := net.InterfaceAddrs()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(addresses, func(a net.Addr) bool {
			network, ok := a.(*net.IPNet)
			return ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast()
		})
		if i < 0 {
			t.Fatal("this machine has no address that others could reach")
		}
		host = addresses[i].(*net.IPNet).IP.String()
	}
	equal(t, "a server", probe(t, s.connected(t, egress.Full), "tcp", greet(t, "tcp", net.JoinHostPort(host, "0"))), reached)
}

func testNamedHosts(t *testing.T, s *site) {
	registry := func() (address string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("package")) }))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	named, other := registry(), registry()
	c := s.connected(t, egress.Registries, named)
	for _, way := range []string{"http", "proxy"} {
		equal(t, way, probe(t, c, way, "http://"+named+"/"), reached)
	}
	if got := probe(t, c, "proxy", "http://"+other+"/"); !strings.Contains(got, "403 Forbidden: signalbox: blocked: "+other+" is not in environment.allow") {
		t.Errorf("another host: %s", got)
	}
	var stdout, stderr bytes.Buffer
	asking := probeCommand(t, attempt{probe: "http", argument: "http://example.org/"})
	asking.Stdout, asking.Stderr = &stdout, &stderr
	r, err := c.Exec(t.Context(), asking)
	if err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	equal(t, "refused", strings.HasPrefix(stdout.String(), "refused: 403"), true)
	equal(t, "standard error", stderr.String(), "signalbox: blocked: example.org (environment.allow)\n")
}

func testMustReach(t *testing.T, s *site) {
	for _, network := range []string{egress.Full, egress.Registries, egress.None} {
		meant, other := greet(t, "tcp", "127.0.0.1:0"), greet(t, "tcp", "127.0.0.1:0")
		c := s.connected(t, network)
		meantOne, otherOne, open := attempt{probe: "tcp", argument: meant}, attempt{probe: "tcp", argument: other}, network == egress.Full && !s.OwnSystem
		without := probeAll(t, c, nil, meantOne, attempt{probe: "loopback"})
		equal(t, network+" without", without[0] == reached, open)
		equal(t, network+": loopback", without[1], reached)
		with := probeAll(t, c, []string{meant}, meantOne, otherOne)
		equal(t, network+": an address that it must reach", with[0], reached)
		equal(t, network+": another address", with[1] == reached, open)
	}
}

// testOtherwiseTheSame repeats the tests that a forwarder beside the command could break.
func testOtherwiseTheSame(t *testing.T, s *site) {
	for _, network := range []string{egress.None, egress.Registries} {
		c := s.connected(t, network)
		for _, same := range []conformance{
			{"streams", testStreams}, {"endings", testEndings}, {"a daemon", testDaemon}, {"a flood", testFlood}, {"stopping", testStop},
		} {
			t.Run(network+": "+same.name, func(t *testing.T) { same.test(t, c) })
		}
	}
}
