// Package pipeline holds the files with which a CI system runs issues and the self-healing loop: that system's words
// for a schedule, a gate, a pass, and the state carried from one run to the next. Only Install writes,
// and only into the folder that the caller names.
package pipeline

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// File is a file of a project, at its path from the project's root.
type File struct {
	Path    string
	Content []byte
}

//go:embed all:github all:gitlab
var embedded embed.FS

// GitHub returns a workflow and the composite action that it uses.
func GitHub() []File { return files("github") }

// GitLab returns the file that a project's .gitlab-ci.yml includes, and the job's script.
func GitLab() []File { return files("gitlab") }

// files lists a folder of this package, laid out as in a project.
func files(system string) (found []File) {
	err := fs.WalkDir(embedded, system, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := embedded.ReadFile(name)
		found = append(found, File{strings.TrimPrefix(name, system+"/"), content})
		return err
	})
	if err != nil {
		panic(err) // the files are embedded
	}
	return found
}

// Installed is the result for one file of ours in a project.
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

// DifferentError: files with other content exist, and nothing was written.
type DifferentError struct{ Paths []string }

func (e *DifferentError) Error() string {
	return fmt.Sprintf("already there, and different: %s; nothing was written", strings.Join(e.Paths, ", "))
}

// Install writes files to their places below the folder dir. If any exists with other content, it writes
// none and returns a *DifferentError; with force, it keeps the old one as NAME.orig. A dry run writes
// nothing.
func Install(dir string, wanted []File, force, dry bool) (files []Installed, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var different []string
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
		default:
			different = append(different, file.Path)
		}
		files = append(files, w)
	}
	if dry {
		return files, nil
	}
	if len(different) > 0 && !force {
		return files, &DifferentError{different}
	}
	for i, file := range files {
		if file.Found == Same {
			continue
		}
		if err := replace(root, file); err != nil {
			return files, fmt.Errorf("write %s: %w", file.Path, err)
		}
		files[i].Written = true
	}
	return files, nil
}

// replace writes one file in a single rename. It first links a different one to a free name beside it,
// because git may never have seen that one.
func replace(root *os.Root, file Installed) error {
	if err := root.MkdirAll(path.Dir(file.Path), 0o777); err != nil {
		return err
	}
	if file.Found == Different {
		err := root.Link(file.Path, file.Path+".orig")
		for n := 2; errors.Is(err, fs.ErrExist); n++ {
			err = root.Link(file.Path, fmt.Sprintf("%s.orig%d", file.Path, n))
		}
		if err != nil {
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
