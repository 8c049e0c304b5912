package wire

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

	"signalbox/internal/agent"
	"signalbox/internal/config"
)

// Installed is one agent as it is on this machine.
type Installed struct {
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

// Installed looks for every vendor's agent at the same time: each is asked for its version.
func (a *Opener) Installed(ctx context.Context) []Installed {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	all := make([]Installed, len(Vendors))
	done := make(chan struct{})
	for n, v := range Vendors {
		go func() { all[n] = a.look(ctx, v); done <- struct{}{} }()
	}
	for range Vendors {
		<-done
	}
	return all
}

func (a *Opener) look(ctx context.Context, v vendor) Installed {
	i := Installed{Driver: v.Driver, Name: v.Title, Install: v.Install}
	driver, err := v.Build(agent.Settings{Name: v.Driver, Permissions: agent.Everything})
	if err == nil {
		root, gitDir, outside := DocumentsRoot(a.Dir) // the project around, found without any program
		if outside != nil || gitDir == "" {
			root = ""
		}
		i.Version, err = unasked(driver, root, agent.Program{Agent: v.Driver, Args: []string{v.Driver}}, config.Agent{}).Check(ctx)
	}
	if err != nil {
		i.Problem = err.Error()
		return i
	}
	i.Found = true
	i.Login, i.Key, i.Folder = a.LoginOf(v, config.Agent{})
	w := a.WayOf(v, config.Agent{})
	if w.from != "" { // the user named the address
		i.URL, i.URLFrom = ShownURL(w.Url), w.from
	}
	if w.Problem != "" {
		i.Login, i.Key, i.Problem = "", "", w.Problem+": "+w.Next
	}
	return i
}

// LoginOf is how an agent would reach its model: by a key, or by its own login's folder.
func (a *Opener) LoginOf(v vendor, c config.Agent) (login, key, folder string) {
	if v.models == "" && c.Model == "" {
		for _, whose := range slices.Sorted(maps.Keys(servers)) {
			if key := servers[whose].Key; a.Env(key) != "" {
				return config.LoginKey, key, ""
			}
		}
	}
	if w := a.WayOf(v, c); c.Login != config.LoginOwn && w.value != "" {
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

// unaskedAgent is an agent whose program is not started on this machine to say its version: a repository could have it
// do anything else. In a sandbox it is asked all the same.
type unaskedAgent struct {
	agent.Agent
	program agent.Program
	why     string
}

// unasked is the agent, whose program is asked on this machine only if it lies outside the project and no variable of
// the configuration has a say in what it runs.
func unasked(a agent.Agent, root string, program agent.Program, c config.Agent) agent.Agent {
	switch {
	case root != "" && program.Within(root):
		return unaskedAgent{a, program, "version not checked: it is in the repository"}
	case len(c.Env) > 0:
		return unaskedAgent{a, program, "version not checked on this machine: it has variables of its own"}
	}
	return a
}

// Check implements agent.Agent.
func (a unaskedAgent) Check(context.Context) (version string, err error) {
	if _, err := a.program.Find(); err != nil {
		return "", err
	}
	return a.why, nil
}
