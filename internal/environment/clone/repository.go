package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// copyHistory brings the objects of commit, but for those of known, from the project into the
// fresh clone and points its branch there. No delta is looked for between objects that are not stored
// as such: on one disk that takes far longer than it saves.
func (e *Environment) copyHistory(ctx context.Context, commit, known string) error {
	if err := e.driver.config.Repo.Complete(ctx, commit); err != nil {
		return err
	}
	gitDir := filepath.Join(e.layout.fresh(), ".git")
	// The project may be shallow itself: its history then ends in the clone where it ends there.
	shallow, err := os.ReadFile(filepath.Join(e.driver.config.Repo.GitDir(), "shallow"))
	if err == nil {
		err = os.WriteFile(filepath.Join(gitDir, "shallow"), shallow, 0o666)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy where the history ends: %w", err)
	}
	wanted := commit + "\n"
	if known != "" {
		wanted += "^" + known + "\n"
	}
	// The pack and its index are written where they belong; what is asked of the project is read through an alternate.
	repo, objects := e.driver.config.Repo, filepath.Join(gitDir, "objects")
	_, err = e.driver.git.Run(ctx, process.Command{
		Args:  []string{"pack-objects", "--revs", "--non-empty", "-q", "--window=0", "--delta-base-offset", filepath.Join(objects, "pack", "pack")},
		Stdin: strings.NewReader(wanted), Env: []string{"GIT_DIR=" + repo.GitDir(), "GIT_OBJECT_DIRECTORY=" + objects,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Listed(repo.ObjectsDir()), e.layout.tag()}})
	if err != nil {
		return fmt.Errorf("copy history: %w", err)
	}
	ref := filepath.Join(gitDir, "refs", "heads", filepath.FromSlash(e.spec.Branch))
	if err := os.MkdirAll(filepath.Dir(ref), 0o777); err != nil {
		return fmt.Errorf("make branch: %w", err)
	}
	return os.WriteFile(ref, []byte(commit+"\n"), 0o666)
}
