package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Installed is a file of ours in a project and what became of it.
type Installed struct {
	Path string `json:"path"`
	// Found is "missing", "same" or "different".
	Found   string `json:"found"`
	Written bool   `json:"written"`
	content []byte
}

const (
	Missing   = "missing"
	Same      = "same"
	Different = "different"
)

// DifferentError: files are there that say something else, and nothing was written.
type DifferentError struct{ Paths []string }

func (e *DifferentError) Error() string {
	return fmt.Sprintf("already there, and different: %s; nothing was written", strings.Join(e.Paths, ", "))
}

// Install puts files in their places below the folder dir: all or none. One that is there and says something else is an error, or with
// force is set aside as NAME.orig. In a dry run nothing is written.
func Install(dir string, wanted []File, force, dry bool) (files []Installed, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, file := range wanted {
		w := Installed{Path: file.Path, Found: Different, content: file.Content}
		present, err := root.ReadFile(file.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			w.Found = Missing
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", file.Path, err)
		case bytes.Equal(present, file.Content):
			w.Found = Same
		}
		files = append(files, w)
	}
	if dry {
		return files, nil
	}
	return files, writeAll(root, files, force)
}

// writeAll puts each file in its place as a whole, or none if one is there that says something else.
func writeAll(root *os.Root, files []Installed, force bool) error {
	var different []string
	for _, file := range files {
		if file.Found == Different {
			different = append(different, file.Path)
		}
	}
	if len(different) > 0 && !force {
		return &DifferentError{different}
	}
	for i, file := range files {
		if file.Found == Same {
			continue
		}
		if err := replace(root, file); err != nil {
			return fmt.Errorf("write %s: %w", file.Path, err)
		}
		files[i].Written = true
	}
	return nil
}

func replace(root *os.Root, file Installed) error {
	if err := root.MkdirAll(path.Dir(file.Path), 0o777); err != nil {
		return err
	}
	if file.Found == Different {
		if err := setAside(root, file.Path); err != nil {
			return err
		}
	}
	unfinished := file.Path + ".new"
	err := root.WriteFile(unfinished, file.content, 0o666)
	if err == nil {
		err = root.Rename(unfinished, file.Path)
	}
	if err != nil {
		_ = root.Remove(unfinished)
	}
	return err
}

// setAside keeps what is there under a free name beside it: git may never have seen it.
func setAside(root *os.Root, name string) error {
	free := name + ".orig"
	for n := 2; ; n++ {
		err := root.Link(name, free)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		free = fmt.Sprintf("%s.orig%d", name, n)
	}
}
