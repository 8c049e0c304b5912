package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/environment/clone/submodule"
	"signalbox/internal/process"
)

// submodulesFile lists the submodules whose files lie in a base.
const submodulesFile = "submodules"

// placeScript runs inside, in the work folder, and reads no repository but the store. Its arguments are first pairs of "-gone"
// (no path begins with "-") and a path, whose files go; then for each submodule its path, its tree, the tree whose files are there (empty if none are),
// and the index that knows these. A path that a link leads elsewhere ends it.
const placeScript = `set -e
top=$(pwd -P)
while test "$1" = -gone; do
	if test "$(cd "./$2" 2>/dev/null && pwd -P)" = "$top/$2"; then rm -rf "./$2"; fi
	shift 2
done
while test $# -gt 0; do
	path=$1 tree=$2 old=$3
	export GIT_INDEX_FILE="$4" GIT_WORK_TREE="$top/$path"
	shift 4
	mkdir -p "./$path"
	cd "./$path"
	test "$(pwd -P)" = "$top/$path"
	rm -rf ./.git
	rm -f "$GIT_INDEX_FILE.lock"
	if test -n "$old" && test ! -e "$GIT_INDEX_FILE"; then git read-tree "$old"; fi
	if ! git read-tree --reset -u "$tree" 2>/dev/null; then
		rm -f "$GIT_INDEX_FILE"
		if test -n "$old"; then git read-tree "$old"; fi
		git read-tree --reset -u "$tree"
	fi
	cd "$top"
done`

// Files of submodules are put into the work folder without a .git, so git inside takes each for an uninitialized
// submodule: nothing of its configuration is ever read, and an edit there cannot become part of a change. A file there
// that the submodule does not track is like one that the project ignores.

// wanted are the submodules whose files belong into the work folder at commit. What they consist of is in the store then.
func (e *Environment) wanted(ctx context.Context, commit string) ([]submodule.Placed, error) {
	if e.driver.config.WithoutSubmodules {
		return nil, nil
	}
	return e.driver.submodules.Obtain(ctx, commit, filepath.Join(e.layout.private, "submodule.git"), e.layout.tag())
}

// Submodules makes sure that the environment can be brought to commit: an *environment.SubmoduleError says why not.
func (e *Environment) Submodules(ctx context.Context, commit string) error {
	_, err := e.wanted(ctx, commit)
	return err
}

// CheckSubmodules says what is known, without fetching or writing anything, to keep an environment from having the
// submodules of commit, as an *environment.SubmoduleError.
func (d *Driver) CheckSubmodules(ctx context.Context, commit string) error {
	if d.config.WithoutSubmodules {
		return nil
	}
	return d.submodules.Check(ctx, commit)
}

// place makes the tracked files of submodules in dir, the work folder or the fresh clone, those of wanted. It may be done
// again at any time, also where it was cut off, and then writes what differs. The marker is for the caller to save.
func (e *Environment) place(ctx context.Context, m *made, dir string, wanted []submodule.Placed) error {
	if len(wanted) == 0 {
		m.Submodules = nil
		return nil
	}
	args := []string{"sh", "-c", placeScript, "sh"}
	there := map[string]string{}
	for _, p := range m.Submodules {
		there[p.Path] = p.Tree
		// What lay in the project itself git took away with it, or made a folder of the project's.
		if !slices.ContainsFunc(wanted, func(w submodule.Placed) bool { return w.Path == p.Path }) &&
			slices.ContainsFunc(wanted, func(w submodule.Placed) bool { return strings.HasPrefix(p.Path, w.Path+"/") }) {
			args = append(args, "-gone", p.Path)
		}
	}
	for _, w := range wanted {
		args = append(args, w.Path, w.Tree, there[w.Path], e.layout.submoduleIndex(w.Path))
	}
	c := process.Command{Args: args, Total: plumbing.Timeout, Env: e.driver.git.Variables("GIT_DIR="+e.driver.submodules.Dir(), e.layout.tag())}
	if _, err := plumbing.Output(ctx, c, func(ctx context.Context, c process.Command) (process.Result, error) { return e.placing(ctx, dir, c) }); err != nil {
		return fmt.Errorf("put the files of submodules into place: %w", e.located(err))
	}
	m.Submodules = wanted
	return nil
}

// placing runs git where it can write the work folder, and nothing else that counts.
func (e *Environment) placing(ctx context.Context, dir string, c process.Command) (process.Result, error) {
	d := e.driver
	if d.config.Unsandboxed {
		c.Dir, c.Fresh = dir, true
		return d.config.Exec.Exec(ctx, c)
	}
	m, err := d.sandbox.Base()
	if err != nil {
		return process.Result{}, err
	}
	m.Show(sandbox.ReadOnly, d.submodules.Dir())
	m.Show(sandbox.ReadWrite, e.layout.index())
	m.Show(sandbox.ReadWrite, dir)
	v := sandbox.View{Mounts: m}
	if dir == e.layout.work {
		if v.Within, err = e.namespace(ctx); err != nil {
			return process.Result{}, err
		}
	}
	return d.sandbox.Isolated(ctx, v, dir, c)
}

// submoduleIndex begins the names of the indexes of submodules' files, which lie beside that of Record.
const submoduleIndex = "submodule-"

func (l layout) submoduleIndex(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(l.index(), submoduleIndex+hex.EncodeToString(sum[:8]))
}

// dropIndexes forgets what is known of files in the work folder, by indexes whose names begin so: others will lie there.
func (l layout) dropIndexes(prefix string) error {
	entries, err := os.ReadDir(l.index())
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			err = errors.Join(err, os.Remove(filepath.Join(l.index(), entry.Name())))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop the index: %w", err)
	}
	return nil
}

// beginSubmodules notes that the work folder begins with what the base holds of submodules, if it stands on one.
func (e *Environment) beginSubmodules(m *made) (err error) {
	if m.Submodules, err = e.driver.ofBase(m.Warm); err != nil {
		return err
	}
	return e.layout.dropIndexes(submoduleIndex)
}

// ofBase are the submodules whose files an environment that stands on a base begins with.
func (d *Driver) ofBase(w *warm) (list []submodule.Placed, err error) {
	if w == nil || w.Bare {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(d.bases.Path(w.Base), submodulesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the base's submodules: %w", err)
	}
	return list, nil
}

// writeSubmodules notes for a base which files of submodules lie in it.
func writeSubmodules(staging string, list []submodule.Placed) error {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encode submodules: %w", err)
	}
	return cache.ReplaceFile(filepath.Join(staging, submodulesFile), text)
}
