// Package detect reads from a project's files which environment it needs: its kind, its setup commands and its dependencies. It reads untrusted
// files, within limits, and runs none of them.
package detect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Files is the project's content at one commit, or its folder: names are slash paths.
type Files interface {
	// List is the names of all regular files; vendored and ignored ones may be among them.
	List(ctx context.Context) ([]string, error)
	// Read returns the first limit bytes of a file; fs.ErrNotExist when it is not there.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Result is what was found in a project.
type Result struct {
	// Files are those that were looked into, those of the root first.
	Files        []File       `json:"files"`
	Dependencies []Dependency `json:"dependencies"`
	// Environment is the name of the chosen kind, Reason why, in one line for people.
	Environment string `json:"environment_type"`
	Reason      string `json:"reason"`
	// Default: nothing decided, so that Environment is only the name that every project has.
	Default bool `json:"default,omitempty"`
	// Image is the catalogue's for the chosen environment.
	Image string `json:"image,omitempty"`
	// SetUp are the commands, for one shell, in order; empty if no setup is needed. SetUpSource names the files that they come from.
	SetUp       []string `json:"setup_commands"`
	SetUpSource string   `json:"setup_source,omitempty"`
	// Verification proves the setup; empty if there is none.
	Verification []Verification `json:"verification"`
	// NotSetUp are the parts of the project that SetUp does nothing for.
	NotSetUp []Part `json:"not_set_up,omitempty"`
	// Defaults are how the other environments would be set up, in the catalogue's order.
	Defaults []Default `json:"defaults,omitempty"`
	// Versions are the tool versions that the project asks for: go 1.26, node 22.
	Versions map[string]string `json:"versions,omitempty"`
	// Descriptions are the project's own documents about its setup, the most useful first.
	Descriptions []Description `json:"descriptions,omitempty"`
	// Notes tell what could not be read or was left out.
	Notes []string `json:"notes,omitempty"`
}

// File is one file that tells of an environment.
type File struct {
	Path string `json:"path"`
	// Kind is what the file is by its name: "go.mod", "requirements.txt", "devcontainer.json".
	Kind string `json:"kind"`
	// Environment is the kind of environment that it speaks for; empty when for none.
	Environment string `json:"environment,omitempty"`
	// Content is the beginning, as valid UTF-8; a last line says so where that is not all. In JSON it is in detected_files.
	Content string `json:"-"`
	// SHA256 is the digest of the whole content, of the first 64 MiB where it is longer; empty
	// when the file was not read.
	SHA256 string `json:"sha256,omitempty"`
	// Lock: the file fixes the versions of what is installed.
	Lock bool `json:"lock,omitempty"`
	// Manifest: the file says what is to be installed.
	Manifest bool `json:"manifest,omitempty"`
	// Problem is why the file says nothing, or not all of it.
	Problem string `json:"problem,omitempty"`
}

// Dependency is one thing that a manifest asks for directly.
type Dependency struct {
	// Ecosystem is where it comes from: pypi, conda, npm, maven, go or docker.
	Ecosystem  string `json:"ecosystem"`
	Name       string `json:"name"`
	Constraint string `json:"constraint,omitempty"`
	File       string `json:"file"`
}

// Verification is a command whose standard output must be exactly Expected, one
// trailing newline apart, with exit code 0.
type Verification struct {
	Command  string `json:"command"`
	Expected string `json:"expected_output"`
}

// Description is a file in which the project says how it is set up.
type Description struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	// Image, or the Dockerfile (relative to the project), is what a devcontainer starts from.
	Image      string `json:"image,omitempty"`
	Dockerfile string `json:"dockerfile,omitempty"`
	// Commands set up, Checks build and test.
	Commands []string          `json:"commands,omitempty"`
	Checks   []string          `json:"checks,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	// Unfit is why the commands are not taken as they are; empty when they could be.
	Unfit string `json:"unfit,omitempty"`

	recipe string // what the commands do, where a file says it: a Makefile's recipes
}

// Detect finds out what the project needs. The catalogue is the environments to
// choose from, at least one; language is the request's own hint and may be
// empty. What cannot be read or understood is a note, not an error.
func Detect(ctx context.Context, files Files, catalogue []Environment, language string) (Result, error) {
	if len(catalogue) == 0 {
		return Result{}, errors.New("detect environment: the catalogue is empty")
	}
	names, err := files.List(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("detect environment: %w", err)
	}
	s := newSurvey(files, names)
	for s.next < len(s.found) {
		if err := s.look(ctx); err != nil {
			return Result{}, fmt.Errorf("detect environment: %w", err)
		}
	}
	c := newChoice(s, catalogue)
	chosen, reason := c.decide(language)
	if language != "" && c.spoken(language).Name == "" {
		s.note("no environment is known for the language %q", short(language))
	}
	s.result.Environment, s.result.Reason, s.result.Default = cmp.Or(chosen.Name, catalogue[0].Name), reason, c.silent
	s.result.Image = chosen.Image
	s.planSetUp(chosen)
	s.leaveParts(chosen, catalogue)
	s.collectDefaults(chosen, catalogue)
	s.noteUnsupported()
	if err := s.digestScripts(ctx); err != nil {
		return Result{}, fmt.Errorf("detect environment: %w", err)
	}
	s.collectVersions()
	return s.result, nil
}

// Locks returns the digests, by path, of everything that decides what a setup installs: manifests, lock files, and the files that the setup
// commands come from and start.
func (r Result) Locks() map[string]string {
	locks := map[string]string{}
	for _, f := range r.Files {
		if f.SHA256 != "" && (f.Lock || f.Manifest || f.Kind == script || f.Path == r.SetUpSource) {
			locks[f.Path] = f.SHA256
		}
	}
	return locks
}
