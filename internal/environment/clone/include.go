package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/process"
)

// includeFile lists, in gitignore syntax at the project root, ignored files that a clone needs and git would not copy (local
// settings, say).
const includeFile = ".worktreeinclude"

// neverIncluded are the folders of the project root that are never copied into a clone.
var neverIncluded = []string{".git", ".signalbox", ".worktrees", "runs"}

// Included returns the files that the list matches and git ignores in the project's checkout. A file that git would record is
// never copied, because the clone has its own.
func (d *Driver) Included(ctx context.Context) ([]string, error) {
	info, err := os.Lstat(filepath.Join(d.config.Root, includeFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", includeFile, err)
	}
	entries, err := os.ReadDir(d.config.Root)
	if err != nil {
		return nil, fmt.Errorf("list the project: %w", err)
	}
	var places []string
	for _, entry := range entries {
		if mayInclude(entry.Name()) {
			places = append(places, entry.Name())
		}
	}
	listed, err := d.untracked(ctx, "--exclude-from="+filepath.Join(d.config.Root, includeFile), places)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	if len(listed) <= maxPlaces {
		places = listed
	}
	ignored, err := d.untracked(ctx, "--exclude-standard", places)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(ignored))
	for _, name := range ignored {
		known[name] = true
	}
	var names []string
	for _, name := range listed {
		if known[name] && mayInclude(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// maxPlaces bounds the arguments of one git process.
const maxPlaces = 1000

// untracked lists the untracked files in some places of the project's checkout that an exclude option matches. Git must not enter
// the folders that are never copied: in clones it would look into their repositories, and fail at a .git/commondir that leads
// nowhere.
func (d *Driver) untracked(ctx context.Context, option string, places []string) ([]string, error) {
	args := append([]string{"ls-files", "--others", "--ignored", "-z", option, "--"}, places...)
	list, err := d.git.Run(ctx, process.Command{Args: args, Dir: d.config.Root, Env: []string{"GIT_LITERAL_PATHSPECS=1"}})
	if err != nil {
		return nil, fmt.Errorf("list the files that %s matches: %w", option, err)
	}
	return splitNUL(list), nil
}

func splitNUL(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")
}

func mayInclude(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	for _, never := range neverIncluded {
		if strings.EqualFold(first, never) {
			return false
		}
	}
	return filepath.IsLocal(name) && !strings.HasSuffix(name, "/")
}

// bring copies the included files into a new clone and notes a digest of them. It skips a file that has become a link, was
// deleted, or exists in the clone.
func (e *Environment) bring(ctx context.Context, m *made, into string) error {
	m.Included = ""
	if len(m.Brought) == 0 {
		return nil
	}
	to, err := os.OpenRoot(into)
	if err != nil {
		return fmt.Errorf("open the new clone: %w", err)
	}
	defer func() { _ = to.Close() }()
	sum := sha256.New()
	for _, name := range m.Brought {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(sum, "%d %s\n", len(name), name)
		if err := copyFile(e.layout.root, to, name, sum); err != nil {
			return fmt.Errorf("copy %q into the new clone: %w", name, err)
		}
	}
	m.Included = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// copyFile copies one file and writes its content to sum.
func copyFile(from string, to *os.Root, name string, sum io.Writer) error {
	source, err := folder.OpenRegular(from, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, folder.ErrNotRegular) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if err := folder.NoLinks(to, filepath.Dir(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	target, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(target, sum), source)
	return errors.Join(err, target.Close())
}

// writeExcludes makes the import repository ignore the files that the project's own info/exclude ignores, and names: an older
// commit may not ignore them yet.
func (e *Environment) writeExcludes(names []string) error {
	rules, err := os.ReadFile(filepath.Join(e.driver.config.Repo.GitDir(), "info", "exclude"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read info/exclude: %w", err)
	}
	text := strings.TrimRight(string(rules), "\n") + "\n"
	for _, name := range names {
		if !strings.Contains(name, "\n") {
			text += "/" + literalPattern.Replace(name) + "\n"
		}
	}
	return writeExclude(e.layout.importGit, []byte(text))
}

func writeExclude(gitDir string, text []byte) error {
	err := os.MkdirAll(filepath.Join(gitDir, "info"), 0o700)
	if err == nil {
		err = cache.ReplaceFile(filepath.Join(gitDir, "info", "exclude"), text)
	}
	if err != nil {
		return fmt.Errorf("write info/exclude: %w", err)
	}
	return nil
}

// literalPattern escapes a file name in gitignore syntax, so that it matches only itself.
var literalPattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `)
