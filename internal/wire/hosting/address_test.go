package hosting

import "testing"

func TestTheRepositoryIsFoundInEveryFormOfARemotesAddress(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]address{
		"https://github.com/octo-org/engine.git":                  {"https://github.com", "octo-org/engine"},
		"https://github.com/octo-org/engine":                      {"https://github.com", "octo-org/engine"},
		"https://GitHub.com/octo-org/engine/":                     {"https://github.com", "octo-org/engine"},
		"https://ada:ghp_secret@github.com/octo-org/engine.git":   {"https://github.com", "octo-org/engine"},
		"https://ghp_secret@git.example.org:8443/octo-org/engine": {"https://git.example.org:8443", "octo-org/engine"},
		"http://127.0.0.1:3000/octo-org/engine.git":               {"http://127.0.0.1:3000", "octo-org/engine"},
		"git@github.com:octo-org/engine.git":                      {"https://github.com", "octo-org/engine"},
		"github.com:octo-org/engine":                              {"https://github.com", "octo-org/engine"},
		"ssh://git@github.com/octo-org/engine.git":                {"https://github.com", "octo-org/engine"},
		"ssh://git@ssh.github.com:443/octo-org/engine.git":        {"https://github.com", "octo-org/engine"},
		"ssh://git@git.example.org:2222/octo-org/engine.git":      {"https://git.example.org", "octo-org/engine"},
		"git@gitlab.example.org:group/below/engine.git":           {"https://gitlab.example.org", "group/below/engine"},
		"git+ssh://git@github.com/octo-org/engine.git":            {"https://github.com", "octo-org/engine"},
		"/srv/git/engine.git":                                     {},
		"./engine.git":                                            {},
		"../a:b/engine.git":                                       {},
		"file:///srv/git/engine.git":                              {},
		"https://github.com/engine":                               {},
		"":                                                        {},
		"ext::sh -c touch% /tmp/x":                                {},
	} {
		if got, ok := addressOf(remote); got != want || ok != (want != address{}) {
			t.Errorf("%q is %+v (%t), want %+v", remote, got, ok, want)
		}
	}
}

func TestTheConfigurationWinsOverTheRemote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, path, remote string
		want              address
		ok                bool
	}{
		{"", "", "git@github.com:a/b", address{"https://github.com", "a/b"}, true},
		{"https://github.example.com/", "", "git@work:a/b.git", address{"https://github.example.com", "a/b"}, true},
		{"", "c/d", "git@github.com:a/b", address{"https://github.com", "c/d"}, true},
		{"https://git.example.org", "c/d", "", address{"https://git.example.org", "c/d"}, true},
		{"https://example.org/git", "", "https://example.org/git/a/b.git", address{"https://example.org/git", "a/b"}, true},
		{"https://git.example.org", "", "/srv/git/b.git", address{"https://git.example.org", ""}, false},
		{"", "", "/srv/git/b.git", address{}, false},
	} {
		if got, ok := at(c.url, c.path, c.remote); got != c.want || ok != c.ok {
			t.Errorf("at(%q, %q, %q) is %+v, %t, want %+v, %t", c.url, c.path, c.remote, got, ok, c.want, c.ok)
		}
	}
}

func TestTheKindOfAServerIsGuessedByItsName(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"git@github.com:octo-org/engine.git":            "github https://github.com/octo-org/engine",
		"https://ada:pw@github.example.com/octo/engine": "github https://github.example.com/octo/engine",
		"git@octo.ghe.com:octo/engine":                  "github https://octo.ghe.com/octo/engine",
		"https://gitlab.com/group/below/engine.git":     "gitlab https://gitlab.com/group/below/engine",
		"ssh://git@codeberg.org/ada/engine.git":         "gitea https://codeberg.org/ada/engine",
		"https://forgejo.example.org/ada/engine":        "gitea https://forgejo.example.org/ada/engine",
		"https://notgithub.com/ada/engine":              " ",
		"/srv/github/engine.git":                        " ",
		"https://bitbucket.org/ada/engine":              " ",
	} {
		if driver, page := Guess(remote); driver+" "+page != want {
			t.Errorf("%q is %q at %q, want %q", remote, driver, page, want)
		}
	}
}
