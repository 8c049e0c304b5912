package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/process"
)

// adoptedFile lists the folders of a base that are its set-up's although nobody ignores them,
// each name ended by NUL.
const adoptedFile = "adopted"

// adoptScript tells the clone's own git what is ignored, which comes on standard input.
const adoptScript = `test ! -L .git && test ! -L .git/info && mkdir -p .git/info && rm -f .git/info/exclude && exec cat >.git/info/exclude`

// adoptSetUp makes folders that the set-up filled part of the environment although the project does
// not ignore them (a .venv, say): they are neither recorded as a change nor removed by Reset.
// Files are not adopted: one that a set-up wrote may be one that a change is about.
func (e *Environment) adoptSetUp(ctx context.Context, m *made) error {
	list, err := e.importing(ctx, "", "git", "ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory")
	if err != nil {
		return fmt.Errorf("list what the set-up made: %w", err)
	}
	var found []string
	for _, name := range splitNUL(list) {
		if folder, ok := strings.CutSuffix(name, "/"); ok && mayKeep(folder) && !strings.Contains(folder, "\n") {
			found = append(found, folder)
		}
	}
	if len(found) == 0 {
		return nil
	}
	if len(found) > maxIgnored {
		return fmt.Errorf("the set-up made more than %d folders that git does not ignore", maxIgnored)
	}
	m.Adopted = append(m.Adopted, found...)
	if err := e.layout.save(m); err != nil {
		return err
	}
	included, err := e.driver.Included(ctx)
	if err != nil {
		return err
	}
	if err := e.writeExcludes(slices.Concat(included, m.Adopted)); err != nil {
		return err
	}
	return e.showExcludes(ctx)
}

// showExcludes gives the clone's own .git, which commands may have changed, the import
// repository's idea of what is ignored.
func (e *Environment) showExcludes(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(e.layout.importGit(), "info", "exclude"))
	if err != nil {
		return fmt.Errorf("read info/exclude: %w", err)
	}
	_, err = plumbing.Output(ctx, process.Command{Args: []string{"sh", "-c", adoptScript, "sh"}, Stdin: strings.NewReader(string(text)),
		Env: e.driver.git.Variables()}, e.Exec)
	if err != nil {
		return fmt.Errorf("tell the clone what is ignored: %w", err)
	}
	return nil
}

// adopted is what an environment on a base has adopted: what the set-up did that made the base.
func (e *Environment) adopted(m *made) ([]string, error) {
	if m.Warm == nil || m.Warm.Bare {
		return m.Adopted, nil
	}
	list, err := os.ReadFile(filepath.Join(e.driver.bases.Path(m.Warm.Base), adoptedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the base adopted: %w", err)
	}
	return splitNUL(string(list)), nil
}

// writeAdopted notes for a base what the environment that becomes it has adopted.
func writeAdopted(staging string, names []string) error {
	var list strings.Builder
	for _, name := range names {
		list.WriteString(name + "\x00")
	}
	return cache.ReplaceFile(filepath.Join(staging, adoptedFile), []byte(list.String()))
}
