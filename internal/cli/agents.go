package cli

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/redact"
)

func newAgents(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "agents",
		Short: "List the coding agents on this machine and how they reach their models",
		Long: "Look for the agents that Signalbox understands, with their versions, and for what lets them reach their models: an\n" +
			"API key in its usual variable, or a login of their own.",
		Example: "  signalbox agents\n  signalbox agents --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listAgents(c.Context()) },
	}
}

// installed is one agent as it is on this machine.
type installed struct {
	Driver  string `json:"driver"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Found   bool   `json:"found"`
	// Login is key or own, empty where neither is there; Key the variable, Folder where the login is.
	Login string `json:"login,omitempty"`
	Key   string `json:"key,omitempty"`
	// URL is the server that the user's own settings name, and URLFrom where they do.
	URL     string `json:"url,omitempty"`
	URLFrom string `json:"url_from,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Problem string `json:"problem,omitempty"`
	Install string `json:"install"`
}

func (a *app) listAgents(ctx context.Context) error {
	found := a.installed(ctx)
	if a.json {
		return a.printJSON(found)
	}
	for _, i := range found {
		if !i.Found {
			says := "not found; " + i.Install
			if i.Version != "" {
				says = redact.Line(i.Problem, sayAtMost)
			}
			a.print("%-10s %-12s %s\n", i.Driver, i.Name, says)
			continue
		}
		if i.Problem != "" {
			a.print("%-10s %-12s %s; %s\n", i.Driver, i.Name, redact.Line(i.Version, 60), redact.Line(i.Problem, sayAtMost))
			continue
		}
		says := "no way to its model yet: log in by starting it once, or export its key"
		switch i.Login {
		case config.LoginKey:
			says = "key in " + i.Key
			if i.URL != "" {
				says += " for " + redact.Line(i.URL, 200) + " (" + i.URLFrom + ")"
			}
		case config.LoginOwn:
			says = "login in ~/" + i.Folder
		}
		a.print("%-10s %-12s %s; %s\n", i.Driver, i.Name, redact.Line(i.Version, 60), says)
	}
	return nil
}

// installed looks for every vendor's agent at the same time: each is asked for its version.
func (a *app) installed(ctx context.Context) []installed {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	all := make([]installed, len(vendors))
	done := make(chan struct{})
	for n, v := range vendors {
		go func() { all[n] = a.look(ctx, v); done <- struct{}{} }()
	}
	for range vendors {
		<-done
	}
	return all
}

func (a *app) look(ctx context.Context, v vendor) installed {
	i := installed{Driver: v.driver, Name: v.title, Install: v.install}
	driver, err := v.build(agent.Settings{Name: v.driver, Permissions: agent.Everything})
	if err == nil {
		i.Version, err = unasked(driver, a.repositoryRoot(), agent.Program{Agent: v.driver, Args: []string{v.driver}}, config.Agent{}).Check(ctx)
	}
	if err != nil {
		i.Problem = err.Error()
		return i
	}
	i.Found = true
	i.Login, i.Key, i.Folder = a.login(v, config.Agent{})
	w := a.way(v, config.Agent{})
	i.URL, i.URLFrom = shownURL(w.named()), w.from
	if w.problem != "" {
		i.Login, i.Key, i.Problem = "", "", w.problem+": "+w.next
	}
	return i
}

// login is how an agent would reach its model: by a key, or by its own login's folder.
func (a *app) login(v vendor, c config.Agent) (login, key, folder string) {
	if v.models == "" && c.Model == "" {
		for _, whose := range slices.Sorted(maps.Keys(servers)) {
			if key := servers[whose].key; a.Env(key) != "" {
				return config.LoginKey, key, ""
			}
		}
	}
	if w := a.way(v, c); c.Login != config.LoginOwn && w.value != "" {
		return config.LoginKey, w.key, ""
	}
	if c.Login == config.LoginOwn || loggedIn(filepath.Join(a.Env("HOME"), v.login.Folder, v.login.File)) {
		return config.LoginOwn, "", v.login.Folder
	}
	return "", "", ""
}

// loggedIn: the login's file holds something. After a logout some agents leave it empty, or with an
// empty object.
func loggedIn(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	held := strings.Join(strings.Fields(string(text)), "")
	return held != "" && held != "{}"
}
