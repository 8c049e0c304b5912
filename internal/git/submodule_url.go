package git

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// OriginURL returns the address that relative addresses of submodules begin from: that of the remote
// "origin", or of the only remote. It is empty if there is none, and has no user or password.
func (r *Repo) OriginURL(ctx context.Context) (string, error) {
	settings, err := r.settings(ctx)
	if err != nil {
		return "", fmt.Errorf("find address of origin: %w", err)
	}
	remotes := map[string]string{}
	for _, s := range settings {
		name, ok := strings.CutSuffix(strings.TrimPrefix(s.key, "remote."), ".url")
		if _, seen := remotes[name]; ok && !seen && strings.HasPrefix(s.key, "remote.") { // git fetches from the first
			remotes[name] = s.value
		}
	}
	origin, ok := remotes["origin"]
	if !ok && len(remotes) == 1 {
		for _, only := range remotes {
			origin = only
		}
	}
	if at, err := url.Parse(origin); err == nil && at.User != nil && at.Host != "" {
		at.User = nil
		origin = at.String()
	}
	return origin, nil
}

// SubmoduleURL returns the address of a submodule as .gitmodules has it. A relative one ("../lib.git")
// begins from the address of the repository that names it. ErrInvalid if it leads above a host's root.
func SubmoduleURL(parent, address string) (string, error) {
	if !strings.HasPrefix(address, "./") && !strings.HasPrefix(address, "../") {
		return address, nil
	}
	if parent == "" {
		return "", fmt.Errorf("%w address %q: it is relative, and the repository has no remote", ErrInvalid, gitcmd.Clean(address))
	}
	base, rest := strings.TrimRight(parent, "/"), address
	for {
		if after, ok := strings.CutPrefix(rest, "./"); ok {
			rest = after
			continue
		}
		after, ok := strings.CutPrefix(rest, "../")
		if !ok {
			break
		}
		rest = after
		cut := strings.LastIndexByte(base, '/')
		if cut < 0 || strings.HasSuffix(base[:cut], "/") || strings.HasSuffix(base[:cut], ":") {
			return "", fmt.Errorf("%w address %q: it leads above %q", ErrInvalid, gitcmd.Clean(address), gitcmd.Clean(parent))
		}
		base = base[:cut]
	}
	return base + "/" + strings.TrimRight(rest, "/"), nil
}
