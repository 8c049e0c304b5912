package forgetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// InMemory reads a folder, of which os.CopyFS then makes copies: a repository takes git a hundred times as long.
func InMemory(t *testing.T, root string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if info.Mode().IsRegular() {
			file.Data, err = os.ReadFile(filepath.Join(root, path))
		}
		all[path] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
