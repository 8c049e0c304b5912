package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// foreignState refuses a repository that brings what only Signalbox writes. What it finds there it believes: that tests of the base
// have passed, that an environment is a verified product, where an agent's socket is; and a link there would lead it out of the project.
func (p *Project) foreignState(ctx context.Context) error {
	there := slices.ContainsFunc(store.PrivateFolders, func(name string) bool {
		info, err := os.Lstat(filepath.Join(p.Root, store.PrivateDir, name))
		return err == nil && (name != "locks" || !info.IsDir())
	})
	if !there { // git is asked only where there is anything
		return nil
	}
	tracked, err := p.Repo.Tracked(ctx, store.PrivateDir)
	if err != nil {
		return err
	}
	for _, name := range tracked {
		_, below, ok := strings.Cut(name, "/")
		folder, _, _ := strings.Cut(below, "/")
		if ok && !slices.Contains(store.PrivateFolders, folder) {
			continue
		}
		return &problem.Error{Err: fmt.Errorf("the repository brings %s, which only Signalbox may write: nothing in there can be believed", redact.Line(name, 200)), Code: problem.Untrusted,
			Hint: "who committed it, and why: git log -- " + filepath.Join(store.PrivateDir, folder) + "; take it out: git rm -r " + filepath.Join(store.PrivateDir, folder) + ", and commit that"}
	}
	return nil
}
