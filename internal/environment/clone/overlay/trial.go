package overlay

import (
	"errors"
	"os"
	"path/filepath"

	"signalbox/internal/environment/clone/folder"
)

// Trial makes the folders of an overlay in dir with which is tried what can be done here.
func Trial(dir string) (Mount, error) {
	m := Mount{filepath.Join(dir, "lower"), Layer{dir}, filepath.Join(dir, "at")}
	for _, path := range []string{m.Lower + "/a", m.Lower + "/b/c", m.Layer.Upper(), m.Layer.Work(), m.Target} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return Mount{}, err
		}
	}
	return m, nil
}

// RemoveTrial deletes what Trial made, mounted or not.
func RemoveTrial(dir string) error {
	return errors.Join(Unmount(filepath.Join(dir, "at")), folder.Remove(dir))
}

// Renames does with a folder of a trial that comes from below what git mv does.
func Renames(at string) error { return os.Rename(at+"/a", at+"/d") }

// Replaces replaces a folder of a trial that comes from below by an empty one.
func Replaces(at string) error {
	if err := errors.Join(os.RemoveAll(at+"/b"), os.Mkdir(at+"/b", 0o700)); err != nil {
		return err
	}
	left, err := os.ReadDir(at + "/b")
	if err == nil && len(left) > 0 {
		err = errors.New("a folder that was replaced shows what is below")
	}
	return err
}
