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

// includeFile lists, in gitignore syntax at the project root, ignored files (local settings,
// say) that a clone needs and git would not bring.
const includeFile = ".worktreeinclude"

// neverIncluded are the folders of the project root that no list brings into a clone.
var neverIncluded = []string{".git", ".signalbox", ".worktrees", "runs"}

// Included names the files that the list matches and that git ignores in the project's
// checkout. A file that git would record is never copied: the clone has its own.
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

// maxPlaces bounds the arguments of one git.
const maxPlaces = 1000

// untracked lists the untracked files of some places in the project's checkout that an exclude
// option matches. Git must not enter the folders that no list brings: on its way through clones
// it would look into their repositories, and a .git/commondir that leads nowhere ends it.
func (d *Driver) untracked(ctx context.Context, option string, places []string) ([]string, error) {
	args := append([]string{"ls-files", "--others", "--ignored", "-z", option, "--"}, places...)
	list, err := d.git.Run(ctx, process.Command{Args: args, Dir: d.config.Root, Env: []string{"GIT_LITERAL_PATHSPECS=1"}})
	if err != nil {
		return nil, fmt.Errorf("list what %s matches: %w", option, err)
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

// bring copies the files into a new clone and notes a digest of them. What became a link,
// vanished, or is there already is left alone.
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

// copyFile copies one file; sum is fed its content.
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

// writeExcludes tells the import repository what is ignored: what the project's own
// info/exclude says, and what was copied, because an older commit may not ignore it yet.
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
	return writeExclude(e.layout.importGit(), []byte(text))
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

// literalPattern makes a file name match only itself in gitignore syntax.
var literalPattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `)
