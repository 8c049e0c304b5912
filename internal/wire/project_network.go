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
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"signalbox/internal/environment/egress"
	"signalbox/internal/problem"
)

// Proxy is the proxy that this machine's variables name, in upper or lower case. The gateway uses it, and so does the sandbox.
func (a *Opener) Proxy() func(*url.URL) (*url.URL, error) {
	all := cmp.Or(a.Env("ALL_PROXY"), a.Env("all_proxy"))
	named := (&httpproxy.Config{
		HTTPProxy:  cmp.Or(a.Env("HTTP_PROXY"), a.Env("http_proxy"), all),
		HTTPSProxy: cmp.Or(a.Env("HTTPS_PROXY"), a.Env("https_proxy"), all),
		NoProxy:    cmp.Or(a.Env("NO_PROXY"), a.Env("no_proxy")),
	}).ProxyFunc()
	return func(to *url.URL) (*url.URL, error) {
		out, err := named(to)
		if err != nil || out == nil {
			return out, err
		}
		if !slices.Contains(proxyKinds, out.Scheme) { // Go's client would talk HTTP to it
			return nil, errUnknownProxy
		}
		if port, err := strconv.Atoi(cmp.Or(out.Port(), "1")); out.Hostname() == "" || err != nil || port < 1 || port > 65535 {
			return nil, errUnknownProxy
		}
		return out, nil
	}
}

// CheckProxy refuses a proxy through which nothing can be reached.
func (a *Opener) CheckProxy() error {
	for _, scheme := range []string{"https", "http"} {
		if _, err := a.Proxy()(&url.URL{Scheme: scheme, Host: "example.com"}); err != nil {
			names := []string{strings.ToUpper(scheme) + "_PROXY", scheme + "_proxy", "ALL_PROXY", "all_proxy"}
			i := slices.IndexFunc(names, func(name string) bool { return a.Env(name) != "" })
			return &problem.Error{Err: fmt.Errorf("%s is not the address of a known kind of proxy", names[max(0, i)]), Hint: WantProxy}
		}
	}
	return nil
}

// proxyKinds are the kinds that the gateway and the sandbox's network support.
var proxyKinds = []string{"http", "https", "socks5", "socks5h"}

var errUnknownProxy = errors.New("this machine's variables name an unknown kind of proxy, or no address of one")

// WantProxy says which addresses a proxy may have.
const WantProxy = "want http://host:port, https://…, socks5://… or socks5h://…; or unset it"

// CertificateFiles name files with further certificates to trust, CertificateFolders folders of them. Each tool has its own
// variable.
var (
	CertificateFiles = []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"AWS_CA_BUNDLE", "PIP_CERT", "CARGO_HTTP_CAINFO", "NPM_CONFIG_CAFILE", "npm_config_cafile"}
	CertificateFolders = []string{"SSL_CERT_DIR"}
)

// Certificates are the system's and those that variables name. SSL_CERT_FILE and SSL_CERT_DIR, which Go reads by itself,
// replace the system's; the others add to them. Most commands connect to no one, and parsing takes milliseconds.
func (a *Opener) Certificates() (roots func() *x509.CertPool, err error) {
	var named []byte
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
		if !egress.HoldsCertificate(text) {
			return nil, &problem.Error{Err: fmt.Errorf("%s names %s, which holds no certificate", name, path), Hint: "correct " + name + ", or unset it"}
		}
		named = append(append(named, text...), '\n')
	}
	return egress.Certificates(named), nil
}

// certificatePaths are the files and folders of those variables that commands inside can see. A file that also holds a private
// key stays outside.
func (a *Opener) certificatePaths() (paths []string) {
	for _, name := range CertificateFiles {
		path := a.Env(name)
		info, err := os.Stat(path)
		if slices.Contains(paths, path) || err != nil || !filepath.IsAbs(path) || !info.Mode().IsRegular() || info.Size() > maxCertificates {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("PRIVATE KEY")) {
			continue
		}
		if block, _ := pem.Decode(text); block != nil && strings.HasSuffix(block.Type, "CERTIFICATE") {
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

// CertificateVariables are the variables whose files and folders commands can see.
func (a *Opener) CertificateVariables() (names []string) {
	shown := a.certificatePaths()
	for _, name := range slices.Concat(CertificateFiles, CertificateFolders) {
		if paths := filepath.SplitList(a.Env(name)); len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !slices.Contains(shown, path) }) {
			names = append(names, name)
		}
	}
	return names
}

// maxCertificates is larger than any bundle, in bytes.
const maxCertificates = 16 << 20
