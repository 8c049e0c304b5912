package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"signalbox/internal/git/gitcmd"
	"signalbox/internal/lazy"
)

// ErrFilter: a filter that the user's git requires for some files (git LFS, say) fails. A retry does not
// help.
var ErrFilter = errors.New("a filter that git requires for some files fails")

var (
	filterName = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	// Git calls a long-running filter that ends too early "the remote end".
	filterWords = lazy.Pattern(`(?m)filter '?[^\n]*'? failed|initialization for subprocess|the remote end hung up`)
)

// CheckFilters tests the filters without which git refuses to write files of this checkout. It starts
// each once, with empty input. ErrFilter names the one that fails.
func (r *Repo) CheckFilters(ctx context.Context) error {
	habits, err := r.habits(ctx)
	if err != nil {
		return err
	}
	for _, name := range habits.required {
		out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"ls-files", "-z", "--", ":(attr:filter=" + name + ")"}, Dir: r.git.Root, User: true, Patterns: true})
		if err != nil {
			return fmt.Errorf("look for files of filter %q: %w", name, err)
		}
		file, _, _ := strings.Cut(string(out), "\x00")
		if file == "" {
			continue
		}
		_, err = r.git.Run(ctx, gitcmd.Call{Args: []string{"hash-object", "--stdin", "--path", file}, Dir: r.git.Root, User: true})
		if errors.Is(err, ErrNoAnswer) {
			err = fmt.Errorf("%w: %w", ErrFilter, err)
		}
		if err != nil {
			return fmt.Errorf("filter %q of %q: %w", name, gitcmd.Clean(file), filterFailed(err))
		}
	}
	return nil
}

// filterFailed returns ErrFilter if a filter caused a checkout's error, else the error.
func filterFailed(err error) error {
	var failed *gitcmd.Error
	if errors.As(err, &failed) && filterWords().MatchString(failed.Stderr) {
		return fmt.Errorf("%w: %w", ErrFilter, err)
	}
	return err
}

// Filtered returns the paths that the user's git passes through a filter, with the filter's name.
func (r *Repo) Filtered(ctx context.Context, paths []string) (map[string]string, error) {
	root, err := os.OpenRoot(r.git.Root)
	if err != nil {
		return nil, fmt.Errorf("open checkout: %w", err)
	}
	defer func() { _ = root.Close() }()
	if !r.mayFilter(root, paths) {
		return nil, nil
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"check-attr", "--stdin", "-z", "filter"}, Input: strings.Join(paths, "\x00") + "\x00", Dir: r.git.Root, User: true})
	if err != nil {
		return nil, fmt.Errorf("look for filters: %w", err)
	}
	found := map[string]string{}
	for fields := strings.Split(string(out), "\x00"); len(fields) > 2; fields = fields[3:] {
		if value := fields[2]; value != "unspecified" && value != "unset" {
			found[fields[0]] = value
		}
	}
	return found, nil
}

// mayFilter reports whether attributes in a checkout can give one of paths a filter. It starts no git:
// nearly all checkouts have no such attributes, and pay nothing.
func (r *Repo) mayFilter(root *os.Root, paths []string) bool {
	names := func(data []byte, err error) bool { return err == nil && bytes.Contains(data, []byte("filter")) }
	if names(os.ReadFile(filepath.Join(r.git.GitDir, "info", "attributes"))) {
		return true
	}
	looked := map[string]bool{}
	for _, p := range paths {
		if path.Base(p) == ".gitattributes" {
			return true
		}
		for dir := path.Dir(p); !looked[dir]; dir = path.Dir(dir) {
			looked[dir] = true
			if names(root.ReadFile(path.Join(dir, ".gitattributes"))) {
				return true
			}
		}
	}
	return false
}
