package environmenttest

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"signalbox/internal/environment/egress"
)

// networkTests need Harness.Connected.
var networkTests = []conformance{
	{"with the whole network a command reaches what this machine does", testFullNetwork},
	{"with the network of registries a command reaches what is named", testNamedHosts},
	{"with the network of registries a command is told what was blocked", testBlockedHosts},
	{"whatever the network, a command reaches what it must, at the same address, and nothing beside it", testMustReach},
	{"a command has a loopback interface of its own", testLoopback},
	{"what a command may reach changes nothing else of it", testOtherwiseTheSame},
	{"nothing of this machine is in reach of a command without the whole network", testOutOfReach},
}

// connected returns a site of its own whose commands reach so much of the network.
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
	address := "127.0.0.1:0"
	if s.OwnSystem {
		address = net.JoinHostPort(ownAddress(t), "0") // its loopback interface is its own
	}
	equal(t, "a server", probe(t, s.connected(t, egress.Full), "tcp", greet(t, "tcp", address)), reached)
}

// ownAddress is one that this machine has in some network.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Fatal("this machine has no address that others could reach")
	return ""
}

// registry returns a server of packages in small.
func registry(t *testing.T) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("package")) }))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func testNamedHosts(t *testing.T, s *site) {
	named, other := registry(t), registry(t)
	c := s.connected(t, egress.Registries, named)
	for _, way := range []string{"http", "proxy"} {
		equal(t, way, probe(t, c, way, "http://"+named+"/"), reached)
	}
	if got := probe(t, c, "proxy", "http://"+other+"/"); !strings.Contains(got, "403 Forbidden: signalbox: blocked: "+other+" is not in environment.allow") {
		t.Errorf("another host: %s", got)
	}
}

func testBlockedHosts(t *testing.T, s *site) {
	c := s.connected(t, egress.Registries)
	var stdout, stderr bytes.Buffer
	asking := probeCommand(t, "http", "http://example.org/")
	asking.Stdout, asking.Stderr = &stdout, &stderr
	r, err := c.Exec(t.Context(), asking)
	if err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	equal(t, "refused", strings.HasPrefix(stdout.String(), "refused: 403"), true)
	equal(t, "told", stderr.String(), "signalbox: blocked: example.org (environment.allow)\n")
}

func testMustReach(t *testing.T, s *site) {
	for _, network := range []string{egress.Full, egress.Registries, egress.None} {
		meant, other := greet(t, "tcp", "127.0.0.1:0"), greet(t, "tcp", "127.0.0.1:0")
		c := s.connected(t, network)
		equal(t, network+" without", probe(t, c, "tcp", meant) == reached, network == egress.Full && !s.OwnSystem)
		equal(t, network+": what it must reach", probe(t, c, "tcp", meant, meant), reached)
		equal(t, network+": what is beside it", probe(t, c, "tcp", other, meant) == reached, network == egress.Full && !s.OwnSystem)
	}
}

func testLoopback(t *testing.T, s *site) {
	for _, network := range []string{egress.None, egress.Registries} {
		c := s.connected(t, network)
		equal(t, network, probe(t, c, "loopback", ""), reached)
	}
}

// testOtherwiseTheSame runs what a forwarder beside the command could spoil.
func testOtherwiseTheSame(t *testing.T, s *site) {
	for _, network := range []string{egress.None, egress.Registries} {
		c := s.connected(t, network)
		for _, same := range []conformance{
			{"streams", testStreams}, {"a missing program", testMissingProgram}, {"an impostor", testImpostor},
			{"a signal", testSignal}, {"a daemon", testDaemon}, {"a flood", testFlood},
			{"stopping", testStop}, {"tidying up", testTidy},
		} {
			t.Run(network+": "+same.name, func(t *testing.T) { same.test(t, c) })
		}
	}
}
