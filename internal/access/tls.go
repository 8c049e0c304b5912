package access

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLS returns the configuration of a server with this certificate and key. They are read again when a file changes: until both fit, as in the middle
// of a renewal, the old ones serve.
func TLS(certificate, key string, log *slog.Logger) (*tls.Config, error) {
	p := &pair{files: [2]string{certificate, key}, log: log}
	if _, err := p.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.get}, nil
}

type pair struct {
	files   [2]string
	log     *slog.Logger
	mu      sync.Mutex
	changed [2]time.Time
	serves  *tls.Certificate
}

func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var changed [2]time.Time
	for i, file := range p.files {
		if info, err := os.Stat(file); err == nil {
			changed[i] = info.ModTime()
		}
	}
	if p.serves != nil && changed == p.changed {
		return p.serves, nil
	}
	p.changed = changed
	renewed, err := p.load()
	switch {
	case err == nil:
		p.serves = renewed
	case p.serves == nil:
		return nil, err
	default:
		p.log.Warn("read the renewed certificate; the old one is used", "err", err)
	}
	return p.serves, nil
}

func (p *pair) load() (*tls.Certificate, error) {
	info, err := os.Stat(p.files[1])
	if err != nil {
		return nil, fmt.Errorf("read the key of the certificate: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("other users can read the key %s: chmod o= it, and renew the certificate", p.files[1])
	}
	c, err := tls.LoadX509KeyPair(p.files[0], p.files[1])
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s: %w", p.files[0], err)
	}
	return &c, nil
}
