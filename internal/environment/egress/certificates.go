package egress

import (
	"crypto/x509"
	"encoding/pem"
	"sync"
)

// Certificates returns the system's and those of a text. They are read at the first call, because most commands connect to no one.
func Certificates(further []byte) (roots func() *x509.CertPool) {
	return sync.OnceValue(func() *x509.CertPool {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pool.AppendCertsFromPEM(further)
		return pool
	})
}

// HoldsCertificate reports whether a text has a certificate.
func HoldsCertificate(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err == nil {
			return true
		}
	}
	return false
}
