package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// vendorsHosts are where Claude Code renews its login, which nothing can name otherwise.
var vendorsHosts = []string{"platform.claude.com", "api.anthropic.com"}

// impersonate answers for hosts with handler. What leads there is a proxy: a handler for
// CONNECT. The authority that the agent has to trust is written to the file ca.
func impersonate(t *testing.T, ca string, hosts []string, handler http.Handler) (proxy http.HandlerFunc) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: hosts, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(ca), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return func(w http.ResponseWriter, _ *http.Request) { tunnel(w, server.Listener.Addr().String()) }
}

// tunnel connects a client that asked for it with an address.
func tunnel(w http.ResponseWriter, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = to.Close() }()
	w.WriteHeader(http.StatusOK)
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
	_, _ = io.Copy(from, to)
}
