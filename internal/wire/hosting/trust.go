package hosting

import (
	"context"
	"net/url"

	"signalbox/internal/config"
	"signalbox/internal/forge/rest"
)

// Page is the repository's address for people, as the configuration and the remote name it. It is empty if they name none.
func Page(settings config.Forge, remote string) string {
	a, ok := at(settings.URL, settings.Repository, remote)
	if !ok {
		return ""
	}
	return a.page()
}

// Named are the settings that reach this machine, with the repository on the forge in the one that chooses a forge. Without it, a user would agree
// to the server of whatever remote there is later: the remote is no part of the files, and a program can change it.
func Named(list []config.Reach, page string) []config.Reach {
	for i := range list {
		if list[i].Key == "forge.driver" && page != "" {
			list[i].Value += " at " + page
		}
	}
	return list
}

// Plain returns why the token could be read on its way to the server; nil if it couldn't, or if the server isn't known.
func (f *Forge) Plain(ctx context.Context) error {
	remote, _ := f.config.Remote(ctx) // without one, only the settings can name the server
	a, ok := at(f.config.Settings.URL, f.config.Settings.Repository, remote)
	u, err := url.Parse(a.server)
	if !ok || err != nil {
		return nil //nolint:nilerr // opening the forge says so
	}
	return rest.Secure(u)
}
