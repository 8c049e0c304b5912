package github

import (
	"errors"
	"net/url"
	"strings"

	"signalbox/internal/forge/rest"
)

// address is where a server's pages and its API are.
type address struct {
	// page has no slash at the end; api has one.
	page    string
	api     *url.URL
	graphql string
}

// addressOf finds the API of a server from its address for people. github.com and tenants of ghe.com have a host of their own
// for it; GitHub Enterprise Server has it below /api. A token travels unencrypted only to this machine.
func addressOf(page string) (address, error) {
	if page == "" {
		page = "https://github.com"
	}
	u, err := url.Parse(strings.TrimSuffix(page, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return address{}, errors.New("the server's address is not of the form https://github.example.com") // it isn't quoted: it can hold a password
	}
	u.Host = strings.ToLower(u.Host)
	if err := rest.Secure(u); err != nil {
		return address{}, err
	}
	api, root := *u, *u
	if u.Host == "github.com" || strings.HasSuffix(u.Host, ".ghe.com") {
		api.Host, root.Host = "api."+u.Host, "api."+u.Host
		api.Path, root.Path = "/", "/graphql"
	} else {
		api.Path, root.Path = "/api/v3/", "/api/graphql"
	}
	return address{page: u.String(), api: &api, graphql: root.String()}, nil
}
