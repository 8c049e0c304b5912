package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ownFile is a user's file with this text.
func ownFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServeBeyondThisMachineNeedsTLSAndUsers(t *testing.T) {
	t.Parallel()
	const hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"
	for text, want := range map[string]string{
		"":                                         "",
		"serve: {listen: 'localhost:80'}":          "",
		"serve: {listen: '[::1]:80'}":              "",
		"serve: {listen: '127.0.0.1'}":             "line 1: serve.listen is \"127.0.0.1\": want host:port",
		"serve: {listen: '192.0.2.1:80'}":          "want tls.certificate and tls.key",
		"serve: {listen: ':80'}":                   "want names",
		"serve: {listen: 'localhost.evil.org:80'}": "want users or oidc",
		"serve: {listen: ':443', names: [box.example.org], tls: {certificate: c, key: k}, users: {anna: {role: viewer, token: '" + hash + "'}}}": "",
		"serve: {users: {anna: {role: admin, token: '" + hash + "'}}}":                                                                           `serve.users.anna.role is "admin"`,
		"serve: {users: {anna: {role: viewer, token: secret}}}":                                                                                  "type signalbox serve token anna",
		"serve: {users: {\"a\\nb\": {role: viewer, token: '" + hash + "'}}}":                                                                     "a user's name has",
		"serve: {names: ['box:80']}":                                                     "want a host name",
		"serve: {oidc: {issuer: 'http://idp.example.org', client: x}}":                   "serve.oidc.issuer is not an https address",
		"serve: {oidc: {issuer: 'https://idp.example.org', client: x}}":                  "gives no one a role",
		"serve: {oidc: {issuer: 'https://idp.example.org', client: x, viewers: [anna]}}": "want email:ADDRESS",
	} {
		u, err := LoadUser(ownFile(t, text), func(string) string { return "" })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if want == "" && strings.Contains(text, "tls") && !filepath.IsAbs(u.Serve.TLS.Key) {
			t.Errorf("the key is %q", u.Serve.TLS.Key)
		}
	}
}

func TestAUsersFileThatOthersCanWriteIsRefused(t *testing.T) {
	t.Parallel()
	path := ownFile(t, "serve: {listen: '127.0.0.1:9'}")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadUser(path, os.Getenv); err == nil || !strings.Contains(err.Error(), "not yours alone") {
		t.Errorf("says %v", err)
	}
}

func TestARepositoryCannotSayWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	if got := loaded(t, "serve: {users: {eve: {role: approver}}}\n"); !strings.Contains(got, `there is no key "serve"`) {
		t.Errorf("says %q", got)
	}
}

func TestTheUsersFileIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	path := ownFile(t, "serve: {listen: '127.0.0.1:1'}")
	current := CurrentUser(path, os.Getenv)
	listens := func() string {
		u, err := current()
		if err != nil {
			return err.Error()
		}
		return u.Serve.Listen
	}
	for _, step := range []struct {
		change func() error
		want   string
	}{
		{func() error { return nil }, "127.0.0.1:1"},
		{func() error { return os.WriteFile(path, []byte("serve: {listen: '127.0.0.1:22'}"), 0o600) }, "127.0.0.1:22"},
		{func() error { return os.Chmod(path, 0o602) }, "is not yours alone"},
		{func() error { return os.Remove(path) }, DefaultUser().Serve.Listen},
		{func() error { return os.WriteFile(path, []byte("serve: {listens: x}"), 0o600) }, `did you mean "listen"`},
		{func() error { return os.WriteFile(path, []byte("serve: {listen: '127.0.0.1:333'}"), 0o600) }, "127.0.0.1:333"},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if got := listens(); !strings.Contains(got, step.want) {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}
