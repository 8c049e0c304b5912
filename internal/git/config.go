package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/git/gitcmd"
)

// setting is one line of a configuration. In its key, git writes the names of section and variable in
// lower case.
type setting struct {
	key, value string
	own        bool // the repository's, not the user's or the machine's
}

// configuration holds all settings that git reads in the repository. They are read again when the
// repository's file changes.
type configuration struct {
	mu    sync.Mutex
	read  []setting
	size  int64
	mtime time.Time
}

// configured lists the settings of the repository itself, without the user's and the machine's.
func (r *Repo) configured(ctx context.Context) (own []setting, err error) {
	all, err := r.settings(ctx)
	for _, s := range all {
		if s.own {
			own = append(own, s)
		}
	}
	return own, err
}

// settings lists the machine's, the user's and the repository's settings. The last of a key counts.
func (r *Repo) settings(ctx context.Context) ([]setting, error) {
	c := r.config
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(filepath.Join(r.git.GitDir, "config"))
	if err == nil && c.size == info.Size() && c.mtime.Equal(info.ModTime()) {
		return c.read, nil
	}
	out, listErr := r.git.Run(ctx, gitcmd.Call{Args: []string{"config", "-z", "--list", "--show-scope"}, Dir: r.git.Root, User: true})
	if listErr != nil {
		return nil, listErr
	}
	c.read = nil
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // scope NUL key LF value NUL
		key, value, given := strings.Cut(fields[i+1], "\n")
		if !given {
			value = "true" // a name alone
		}
		c.read = append(c.read, setting{key: key, value: value, own: fields[i] == "local" || fields[i] == "worktree"})
	}
	if err == nil {
		c.size, c.mtime = info.Size(), info.ModTime()
	}
	return c.read, nil
}

// programKeys are the ends of settings that make git start a program for a remote, a signature or a
// filter, or read further settings.
var programKeys = []string{
	".sshcommand", ".askpass", ".gitproxy", ".helper", ".receivepack", ".uploadpack", ".vcs", ".program",
	".defaultkeycommand", ".path", ".allow", ".clean", ".smudge", ".process",
}

// NamesPrograms returns the settings in the repository's own configuration that could make a push, a
// signature or a filter start a program. A copied folder brings such settings with it.
func (r *Repo) NamesPrograms(ctx context.Context) (keys []string, err error) {
	settings, err := r.configured(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for programs in the repository's configuration: %w", err)
	}
	for _, s := range settings {
		if slices.ContainsFunc(programKeys, func(end string) bool { return strings.HasSuffix(strings.ToLower(s.key), end) }) {
			keys = append(keys, gitcmd.Clean(s.key))
		}
	}
	return keys, nil
}
