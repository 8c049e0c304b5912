package clone

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/submodule"
)

// layout names every place of one environment.
type layout struct {
	root    string // the project
	work    string // the clone
	private string
}

func (d *Driver) layout(s environment.Spec) layout {
	return layout{
		root:    d.config.Root,
		work:    filepath.Join(d.config.Root, filepath.FromSlash(s.Dir)),
		private: filepath.Join(d.config.State, s.ID),
	}
}

// trees holds every clone of the project.
func (l layout) trees() string { return filepath.Dir(l.work) }

// fresh is a clone being built, gone one being deleted: a crash leaves them under these
// names, where the next Make or Remove finds them.
func (l layout) fresh() string { return filepath.Join(l.trees(), ".new-"+filepath.Base(l.private)) }
func (l layout) gone() string  { return filepath.Join(l.trees(), ".old-"+filepath.Base(l.private)) }

// home is the folder behind HOME.
func (l layout) home() string { return filepath.Join(l.private, "home") }

// AgentsFolder is what Private is called, in an environment's folder below Config.State.
const AgentsFolder = "agents"

// agents is what is kept for agents and not in HOME, see Private.
func (l layout) agents() string { return filepath.Join(l.private, AgentsFolder) }

// scratch holds one new folder per command, its /tmp.
func (l layout) scratch() string { return filepath.Join(l.private, "tmp") }

// importGit is the repository through which the work comes back.
func (l layout) importGit() string { return filepath.Join(l.private, "import.git") }

// treeLayer and homeLayer are what the environment wrote over the base it stands on.
func (l layout) treeLayer() overlay.Layer {
	return overlay.Layer{Path: filepath.Join(l.private, "tree-layer")}
}
func (l layout) homeLayer() overlay.Layer {
	return overlay.Layer{Path: filepath.Join(l.private, "home-layer")}
}

// holders is there while the work folder and HOME are mounted where only the environment's commands
// see them: the record of the processes that hold these mounts, one a line.
func (l layout) holders() string { return filepath.Join(l.private, "holders") }

// trial is where it is tried whether overlays can be mounted.
func (l layout) trial() string { return filepath.Join(l.private, "trial") }

// index is the folder of the index that Record keeps, so that only changed files are hashed again.
func (l layout) index() string { return filepath.Join(l.private, "index") }

// untouched is there from when the clone was built until the first command that is not ours runs in it.
func (l layout) untouched() string { return filepath.Join(l.private, "untouched") }

// gitState is what noteGit noted of the clone's .git.
func (l layout) gitState() string { return filepath.Join(l.private, "git-state") }

// marker says what the environment was made from. It is written before the clone is moved
// into place: a folder without a marker is somebody else's.
func (l layout) marker() string { return filepath.Join(l.private, "environment.json") }

// made is the content of the marker.
type made struct {
	Spec environment.Spec `json:"spec"`
	// Head is the commit that the work folder is known to come from: the last one recorded or reset to.
	Head string `json:"head"`
	// Recorded is the last Record, so that performing it again answers the same commit.
	Recorded recorded `json:"recorded"`
	// Brought names the ignored files that were brought along; Included is a digest of them.
	Brought  []string `json:"brought,omitempty"`
	Included string   `json:"included,omitempty"`
	// Adopted are folders that the set-up made and the project does not ignore.
	Adopted []string `json:"adopted,omitempty"`
	// Warm is what the environment stands on; nil when it is a clone of its own.
	Warm *warm `json:"warm,omitempty"`
	// Submodules are those whose files lie in the work folder, or in the base where it is to stand on one anew.
	Submodules []submodule.Placed `json:"submodules,omitempty"`
	// Keeping is the id of the base that the environment's content is becoming.
	Keeping string `json:"keeping,omitempty"`
}

type recorded struct{ Parent, Tree, Message, Commit string }

// load reads the marker; nil if there is none.
func (l layout) load() (*made, error) {
	data, err := os.ReadFile(l.marker())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read environment marker: %w", err)
	}
	var m made
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("parse %s: %w", l.marker(), err)
	}
	return &m, nil
}

// save replaces the marker in one step and makes it durable.
func (l layout) save(m *made) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode environment marker: %w", err)
	}
	if err := cache.ReplaceFile(l.marker(), data); err != nil {
		return fmt.Errorf("write environment marker: %w", err)
	}
	return nil
}

// present is environment.ErrGone where the work folder is not.
func (l layout) present() error {
	there, err := findFolder(l.work)
	if err == nil && !there {
		err = fmt.Errorf("%s: %w", l.work, environment.ErrGone)
	}
	return err
}

// findFolder reports whether path is a real folder. Anything else there, a symbolic link too, is ErrOccupied.
func findFolder(path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%s is not a folder: %w", path, ErrOccupied)
	}
	return true, nil
}
