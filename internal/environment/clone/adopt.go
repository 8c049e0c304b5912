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

	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/process"
)

// adoptedFile lists the folders of a snapshot that its setup made and the project does not ignore, each name ended by NUL.
const adoptedFile = "adopted"

// adoptScript writes the exclude file of the clone's own git from standard input.
const adoptScript = `test ! -L .git && test ! -L .git/info && mkdir -p .git/info && rm -f .git/info/exclude && exec cat >.git/info/exclude`

// adoptSetup makes the folders that the setup made and the project does not ignore (a .venv, say) part of the environment: they
// are neither recorded as a change nor removed by Reset. It adopts no files, because a change may be about a file that a setup
// wrote.
func (e *Environment) adoptSetup(ctx context.Context, m *made) error {
	list, err := e.importing(ctx, "", "git", "ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory")
	if err != nil {
		return fmt.Errorf("list the setup's files: %w", err)
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
		return fmt.Errorf("the setup made more than %d folders that git does not ignore", maxIgnored)
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

// showExcludes gives the clone's own .git, which commands may have changed, the import repository's exclude file.
func (e *Environment) showExcludes(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(e.layout.importGit, "info", "exclude"))
	if err != nil {
		return fmt.Errorf("read info/exclude: %w", err)
	}
	_, err = plumbing.Output(ctx, process.Command{Args: []string{"sh", "-c", adoptScript, "sh"}, Stdin: strings.NewReader(string(text)),
		Env: e.driver.git.Variables()}, e.Exec)
	if err != nil {
		return fmt.Errorf("write the clone's info/exclude: %w", err)
	}
	return nil
}

// excludeAdopted makes the import repository ignore the copied files and the adopted folders. An environment on a snapshot has
// adopted the folders of the snapshot's setup.
func (e *Environment) excludeAdopted(m *made, included []string) error {
	if m.Warm != nil && !m.Warm.Bare {
		list, err := os.ReadFile(filepath.Join(e.driver.snapshots.Path(m.Warm.Snapshot), adoptedFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the snapshot's adopted folders: %w", err)
		}
		m.Adopted = splitNUL(string(list))
	}
	return e.writeExcludes(slices.Concat(included, m.Adopted))
}
