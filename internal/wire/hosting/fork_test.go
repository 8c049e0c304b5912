package hosting

import (
	"strings"
	"testing"

	"signalbox/internal/config"
)

func TestAForkIsPushedToByItsRemoteOrAsOriginIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings config.Forge
		// remotes are "name address".
		remotes []string
		// want is what is pushed to, or a part of the error if it has a space.
		want string
	}{
		{config.Forge{}, []string{"origin git@github.com:octo-org/engine.git"}, "git@github.com:ada/engine.git"},
		{config.Forge{}, []string{"origin https://github.com/octo-org/engine"}, "https://github.com/ada/engine"},
		{config.Forge{}, []string{"origin https://ada:ghp_secret@github.com/Octo-Org/engine.git"}, "https://github.com/ada/engine.git"},
		{config.Forge{}, []string{"origin ssh://git@ssh.github.com:443/octo-org/engine.git"}, "ssh://git@ssh.github.com:443/ada/engine.git"},
		{config.Forge{URL: "https://example.org/git"}, []string{"origin https://example.org/git/octo-org/engine.git"}, "https://example.org/git/ada/engine.git"},
		{config.Forge{URL: "https://github.com"}, []string{"origin work:octo-org/engine.git"}, "work:ada/engine.git"},
		{config.Forge{}, []string{"origin https://github.com/octo-org/engine", "mine git@github.com:Ada/engine.git"}, "mine"},
		{config.Forge{URL: "https://github.com"}, []string{"origin work:octo-org/engine.git", "mine work:ada/engine"}, "mine"},
		{config.Forge{}, []string{"origin https://github.com/octo-org/engine", "mine https://gitlab.com/ada/engine"}, "https://github.com/ada/engine"},
		{config.Forge{}, []string{"origin https://github.com/octo-org/engine", "grace https://github.com/grace/engine"}, "https://github.com/ada/engine"},
		{config.Forge{Repository: "octo-org/engine"}, []string{"origin git@github.com:ada/engine.git"}, "is the fork"},
		{config.Forge{URL: "https://github.com", Repository: "octo-org/engine"}, []string{"origin /srv/mirror.git"}, "can't be told"},
		{config.Forge{URL: "https://github.com", Repository: "octo-org/engine"}, []string{"origin https://mirror.example.org/xocto-org/engine"}, "can't be told"},
		{config.Forge{}, nil, "can't be told"},
	} {
		remotes := map[string]string{}
		for _, r := range c.remotes {
			name, address, _ := strings.Cut(r, " ")
			remotes[name] = address
		}
		got, err := ForkAddress(c.settings, remotes, "ada/engine")
		if strings.Contains(c.want, " ") {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %q, %v, want %q", c.remotes, got, err, c.want)
			}
		} else if got != c.want || err != nil {
			t.Errorf("%v: %q, %v, want %q", c.remotes, got, err, c.want)
		}
	}
}
