package wire

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"signalbox/internal/problem"
)

// either is a variable in upper case or in lower case, which tools read alike.
func (a *Opener) either(name string) string {
	return cmp.Or(a.Env(name), a.Env(strings.ToLower(name)))
}

// Proxy is the way out that this machine's variables name, for the gateway and for what commands reach.
func (a *Opener) Proxy() func(*url.URL) (*url.URL, error) {
	all := a.either("ALL_PROXY")
	named := (&httpproxy.Config{HTTPProxy: cmp.Or(a.either("HTTP_PROXY"), all), HTTPSProxy: cmp.Or(a.either("HTTPS_PROXY"), all),
		NoProxy: a.either("NO_PROXY")}).ProxyFunc()
	return func(to *url.URL) (*url.URL, error) {
		out, err := named(to)
		if err == nil && out != nil && !slices.Contains(proxyKinds, out.Scheme) {
			return nil, errUnknownProxy // Go's client would talk HTTP to it
		}
		return out, err
	}
}

// proxyKinds are those that the gateway and what commands reach know to speak with.
var proxyKinds = []string{"http", "https", "socks5", "socks5h"}

var errUnknownProxy = errors.New("the proxy that this machine's variables name is of a kind that is not known")

const WantProxy = "want http://host:port, https://…, socks5://… or socks5h://…; or unset it"

// CertificateFiles name further certificates to believe, certificateFolders folders of them. Each tool
// has a variable of its own.
var (
	CertificateFiles = []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"AWS_CA_BUNDLE", "PIP_CERT", "CARGO_HTTP_CAINFO", "NPM_CONFIG_CAFILE", "npm_config_cafile"}
	CertificateFolders = []string{"SSL_CERT_DIR"}
)

// Certificates are the system's and those that variables name. What Go reads by itself (SSL_CERT_FILE and
// SSL_CERT_DIR) takes the place of the system's; the others come on top.
func (a *Opener) Certificates() (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read this machine's certificates: %w", err)
	}
	read := map[string]bool{"": true}
	for _, name := range CertificateFiles {
		path := a.Env(name)
		if read[path] {
			continue
		}
		read[path] = true
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("read the certificates that %s names: %w", name, err), Hint: "correct " + name + ", or unset it"}
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, &problem.Error{Err: fmt.Errorf("%s names %s, which holds no certificate", name, path), Hint: "correct " + name + ", or unset it"}
		}
	}
	return pool, nil
}

// certificatePaths are the files and folders that commands inside are shown for the variables that name
// them. A file that also holds a private key stays outside.
func (a *Opener) certificatePaths() (paths []string) {
	for _, name := range CertificateFiles {
		if path := a.Env(name); filepath.IsAbs(path) && onlyCertificates(path) {
			paths = append(paths, path)
		}
	}
	for _, name := range CertificateFolders {
		for _, dir := range filepath.SplitList(a.Env(name)) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
				paths = append(paths, dir)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// CertificateVariables are those whose files and folders commands are shown.
func (a *Opener) CertificateVariables() (names []string) {
	shown := a.certificatePaths()
	for _, name := range slices.Concat(CertificateFiles, CertificateFolders) {
		if paths := filepath.SplitList(a.Env(name)); len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !slices.Contains(shown, path) }) {
			names = append(names, name)
		}
	}
	return names
}

// maxCertificates is more than any bundle has.
const maxCertificates = 16 << 20

func onlyCertificates(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCertificates {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte("PRIVATE KEY")) {
		return false
	}
	block, _ := pem.Decode(text)
	return block != nil && strings.HasSuffix(block.Type, "CERTIFICATE")
}
