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
	"signalbox/internal/environment/clone/submodule"
	"signalbox/internal/process"
)

// submodulesFile lists the submodules with files in a snapshot.
const submodulesFile = "submodules"

// placeScript runs inside, in the work folder, and reads no repository but the store. Its first arguments are pairs of "-gone"
// (no path begins with "-") and a path to delete. Then each submodule has four: its path, its tree, the tree whose files are
// there (empty if none are), and the index that knows those files. A path that a link leads elsewhere ends the script.
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

// A submodule's files are in the work folder without a .git, so git inside treats it as uninitialized: its configuration is never
// read, and an edit there can't become part of a change. A file there that the submodule doesn't track is like one that the
// project ignores.

// wanted returns the submodules of commit, after bringing their objects into the store.
func (e *Environment) wanted(ctx context.Context, commit string) ([]submodule.Placed, error) {
	if e.driver.config.WithoutSubmodules {
		return nil, nil
	}
	return e.driver.submodules.Obtain(ctx, commit, filepath.Join(e.layout.private, "submodule.git"), e.layout.tag)
}

// Submodules makes sure that the environment can have the submodules of commit. It returns an *environment.SubmoduleError if it
// can't.
func (e *Environment) Submodules(ctx context.Context, commit string) error {
	_, err := e.wanted(ctx, commit)
	return err
}

// CheckSubmodules returns an *environment.SubmoduleError if an environment can't have the submodules of commit, as far as that
// is known without fetching or writing anything.
func (d *Driver) CheckSubmodules(ctx context.Context, commit string) error {
	if d.config.WithoutSubmodules {
		return nil
	}
	return d.submodules.Check(ctx, commit)
}

// place makes the tracked files of submodules in dir, the work folder or the fresh clone, those of wanted. It may be repeated at
// any time, also after an interruption, and writes only the differences. The caller saves the marker.
func (e *Environment) place(ctx context.Context, m *made, dir string, wanted []submodule.Placed) error {
	if len(wanted) == 0 {
		m.Submodules = nil
		return nil
	}
	args := []string{"sh", "-c", placeScript, "sh"}
	there := map[string]string{}
	for _, p := range m.Submodules {
		there[p.Path] = p.Tree
		// If it lay in the project itself, git has deleted it, or made it a folder of the project's.
		if !slices.ContainsFunc(wanted, func(w submodule.Placed) bool { return w.Path == p.Path }) &&
			slices.ContainsFunc(wanted, func(w submodule.Placed) bool { return strings.HasPrefix(p.Path, w.Path+"/") }) {
			args = append(args, "-gone", p.Path)
		}
	}
	for _, w := range wanted {
		sum := sha256.Sum256([]byte(w.Path))
		args = append(args, w.Path, w.Tree, there[w.Path], filepath.Join(e.layout.index, submoduleIndex+hex.EncodeToString(sum[:8])))
	}
	store := e.driver.submodules.Dir()
	_, err := e.onFiles(ctx, dir, process.Command{Args: args, Fresh: true, Env: e.driver.git.Variables("GIT_DIR="+store, e.layout.tag)},
		[]string{store}, []string{e.layout.index, dir})
	if err != nil {
		return fmt.Errorf("put the files of submodules into place: %w", err)
	}
	m.Submodules = wanted
	return nil
}

// submoduleIndex begins the names of the indexes of submodules' files. They are beside Record's index.
const submoduleIndex = "submodule-"

// dropIndexes deletes the indexes whose names begin with prefix, because the files that they know are about to be replaced.
func (l layout) dropIndexes(prefix string) error {
	entries, err := os.ReadDir(l.index)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			err = errors.Join(err, os.Remove(filepath.Join(l.index, entry.Name())))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop the index: %w", err)
	}
	return nil
}

// beginSubmodules notes that the new work folder starts with the submodules of its snapshot, if it has one.
func (e *Environment) beginSubmodules(m *made) (err error) {
	if m.Submodules, err = e.driver.readSubmodules(m.Warm); err != nil {
		return err
	}
	return e.layout.dropIndexes(submoduleIndex)
}

// readSubmodules returns the submodules with files in the snapshot that an environment starts from.
func (d *Driver) readSubmodules(w *warm) (list []submodule.Placed, err error) {
	if w == nil || w.Bare {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(d.snapshots.Path(w.Snapshot), submodulesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the snapshot's submodules: %w", err)
	}
	return list, nil
}

// writeSubmodules lists the submodules with files in a snapshot.
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
