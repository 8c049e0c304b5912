package access_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/access"
)

// certify writes a certificate for localhost with this serial number, and its key.
func certify(t *testing.T, folder string, serial int64) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for file, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(serial, 0)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func TestUnderTLSCookiesAreOfThisHostAlone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certificate, key := certify(t, folder, 1)
	var log bytes.Buffer
	c, err := access.TLS(certificate, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := s.Server(s.Protect(s.pages()))
	server.TLSConfig = c
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(l, "", "") }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	b := s.browser()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, ForceAttemptHTTP2: true} //nolint:gosec // the certificate is looked at
	b.Transport, b.at = transport, "https://"+l.Addr().String()
	path, err := s.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _, h := b.does("GET", path, "")
	if cookie := h.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-signalbox=") || !strings.Contains(cookie, "Secure") || h.Get("Strict-Transport-Security") == "" {
		t.Errorf("the cookie is %q, HSTS %q", cookie, h.Get("Strict-Transport-Security"))
	}
	b.wants(http.StatusOK, "GET", "/", "")

	serial := func() int64 {
		conn, err := (&tls.Dialer{Config: transport.TLSClientConfig}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	certify(t, folder, 2)
	if got := serial(); got != 2 {
		t.Errorf("after a renewal the certificate %d serves", got)
	}
	if err := os.WriteFile(certificate, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 || !strings.Contains(log.String(), "the old one is used") {
		t.Errorf("in the middle of a renewal the certificate %d serves; the log says %s", got, &log)
	}
	certify(t, folder, 3)
	if err := os.Chmod(key, 0o604); err != nil {
		t.Fatal(err)
	}
	if _, err := access.TLS(certificate, key, slog.Default()); err == nil || !strings.Contains(err.Error(), "other users can read the key") {
		t.Errorf("a key for all to read: %v", err)
	}
}
