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
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/environment/clone/submodule"
)

// AgentsFolder is the name of an environment's Private folder, below Config.State/<id>.
const AgentsFolder = "agents"

// layout has the paths of one environment on this machine.
type layout struct {
	root  string // the project
	work  string // the clone
	trees string // holds every clone of the project
	// fresh is a clone being built, gone one being deleted. A crash leaves them there, where the next Make or Remove
	// finds them.
	fresh, gone string

	private   string
	home      string // the folder behind HOME
	agents    string // see Private
	scratch   string // holds one new folder per command, its /tmp
	importGit string // the repository through which the work comes back
	index     string // holds the index that Record keeps, so that only changed files are hashed again
	// treeLayer and homeLayer hold the files that the environment wrote over its snapshot; goneLayer is a treeLayer being deleted.
	treeLayer, homeLayer overlay.Layer
	goneLayer            string
	// holders exists while only the environment's commands see the mounts of the work folder and HOME. It lists the processes
	// that hold these mounts, one per line.
	holders string
	trial   string // for trying whether overlays can be mounted
	// untouched exists from when the clone was built until a command runs in it that is not ours.
	untouched string
	gitState  string // see noteGit
	// marker says what the environment was made from. It is written before the clone is moved into place: a folder without
	// a marker is not ours.
	marker string

	tag string // the variable that marks the environment's processes on this machine
}

func (d *Driver) layout(s environment.Spec) layout {
	work, private := filepath.Join(d.config.Root, filepath.FromSlash(s.Dir)), filepath.Join(d.config.State, s.ID)
	in := func(name string) string { return filepath.Join(private, name) }
	return layout{
		root:      d.config.Root,
		work:      work,
		trees:     filepath.Dir(work),
		fresh:     filepath.Join(filepath.Dir(work), ".new-"+s.ID),
		gone:      filepath.Join(filepath.Dir(work), ".old-"+s.ID),
		private:   private,
		home:      in("home"),
		agents:    in(AgentsFolder),
		scratch:   in("tmp"),
		importGit: in("import.git"),
		index:     in("index"),
		treeLayer: overlay.Layer{Path: in("tree-layer")},
		homeLayer: overlay.Layer{Path: in("home-layer")},
		goneLayer: in("tree-layer.old"),
		holders:   in("holders"),
		trial:     in("trial"),
		untouched: in("untouched"),
		gitState:  in("git-state"),
		marker:    in("environment.json"),
		tag:       sandbox.MarkOf(markName, work),
	}
}

// markName is the variable that marks the processes of a clone by its folder: environment ids repeat between projects.
const markName = "SIGNALBOX_ENV_MARK"

// made is the content of the marker.
type made struct {
	Spec environment.Spec `json:"spec"`
	// Head is the commit that the work folder comes from: the last one recorded or reset to.
	Head string `json:"head"`
	// Recorded is the last Record, so that repeating it returns the same commit.
	Recorded recorded `json:"recorded"`
	// Brought names the ignored files that were copied from the project; Included is a digest of them.
	Brought  []string `json:"brought,omitempty"`
	Included string   `json:"included,omitempty"`
	// Adopted are folders that the setup made and the project does not ignore.
	Adopted []string `json:"adopted,omitempty"`
	// Warm is the snapshot below the environment; nil means that it is a clone of its own.
	Warm *warm `json:"warm,omitempty"`
	// Submodules are those with files in the work folder, or in the snapshot if the environment is to start from it again.
	Submodules []submodule.Placed `json:"submodules,omitempty"`
	// Keeping is the id of the snapshot that the environment's content is becoming.
	Keeping string `json:"keeping,omitempty"`
}

type recorded struct{ Parent, Tree, Message, Commit string }

// load reads the marker and returns nil if there is none.
func (l layout) load() (*made, error) {
	data, err := os.ReadFile(l.marker)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read environment marker: %w", err)
	}
	var m made
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("parse %s: %w", l.marker, err)
	}
	return &m, nil
}

// save replaces the marker in one step and makes it durable.
func (l layout) save(m *made) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode environment marker: %w", err)
	}
	if err := cache.ReplaceFile(l.marker, data); err != nil {
		return fmt.Errorf("write environment marker: %w", err)
	}
	return nil
}

// present returns environment.ErrGone if there is no work folder.
func (l layout) present() error {
	there, err := findFolder(l.work)
	if err == nil && !there {
		err = fmt.Errorf("%s: %w", l.work, environment.ErrGone)
	}
	return err
}

// findFolder reports whether path is a real folder. If something else is there, even a symbolic link, it returns ErrOccupied.
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
