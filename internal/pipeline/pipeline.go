// Package pipeline holds the files with which a CI system runs the self-healing loop: that system's words for a schedule, a gate, a pass, and the
// state carried from one run to the next. It writes nothing; the caller does.
package pipeline

import (
	"embed"
	"io/fs"
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
