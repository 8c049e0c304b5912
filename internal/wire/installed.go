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
	"signalbox/internal/wire/folder"
)

// Installed is one agent on this machine.
type Installed struct {
	Driver  string `json:"driver"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Found   bool   `json:"found"`
	// Login is key or own; empty if the agent has neither. Key names the variable, Folder the place of the login.
	Login string `json:"login,omitempty"`
	Key   string `json:"key,omitempty"`
	// URL is the server that the user's own settings name, URLFrom the setting.
	URL     string `json:"url,omitempty"`
	URLFrom string `json:"url_from,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Problem string `json:"problem,omitempty"`
	Install string `json:"install"`
}

// Installed looks for every vendor's agent, all at the same time, and asks each for its version.
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
		root, gitDir, outside := folder.Root(a.Dir) // the project around, found without running a program
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

// LoginOf is how an agent would reach its model: with a key, or with its own login in a folder.
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
	text, err := os.ReadFile(filepath.Join(a.Env("HOME"), v.login.Folder, v.login.File))
	held := strings.Join(strings.Fields(string(text)), "")
	loggedIn := held != "" && held != "{}" // some agents leave an empty file or object after a logout
	if err != nil {
		loggedIn = !errors.Is(err, fs.ErrNotExist)
	}
	if loggedIn || c.Login == config.LoginOwn {
		return config.LoginOwn, "", v.login.Folder
	}
	return "", "", ""
}

// unaskedAgent is an agent whose program isn't started on this machine to report its version, since a repository could make
// it do something else. Inside a sandbox it is started all the same.
type unaskedAgent struct {
	agent.Agent
	program agent.Program
	why     string
}

// unasked wraps an agent whose program must not be started on this machine: it lies in the project, or the configuration's
// variables can change what it runs.
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
