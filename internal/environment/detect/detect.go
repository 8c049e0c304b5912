// Package detect reads from a project's files which environment it needs: its kind, its setup commands and
// its dependencies. It reads untrusted files, within limits, and runs none of them.
package detect

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Files is the project's content at one commit, or its folder: names are slash paths.
type Files interface {
	// List returns the names of all regular files; vendored and ignored ones may be among them.
	List(ctx context.Context) ([]string, error)
	// Read returns the first limit bytes of a file. A missing file is fs.ErrNotExist.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Result is what Detect found in a project.
type Result struct {
	// Files are the files that were read, the root's first.
	Files        []File       `json:"files"`
	Dependencies []Dependency `json:"dependencies"`
	// Environment is the name of the chosen kind, Reason why it was chosen, in one line for people.
	Environment string `json:"environment_type"`
	Reason      string `json:"reason"`
	// Default: nothing decided, so Environment is only the default for every project.
	Default bool `json:"default,omitempty"`
	// Image is the catalogue's for the chosen environment.
	Image string `json:"image,omitempty"`
	// SetUp are the commands, for one shell, in order; empty if no setup is needed. SetUpSource names the
	// files that they come from.
	SetUp       []string `json:"setup_commands"`
	SetUpSource string   `json:"setup_source,omitempty"`
	// Verification proves the setup; empty if there is none.
	Verification []Verification `json:"verification"`
	// NotSetUp are the parts of the project that SetUp leaves out.
	NotSetUp []Part `json:"not_set_up,omitempty"`
	// Defaults are the setups of the environments that weren't chosen, in the catalogue's order.
	Defaults []Default `json:"defaults,omitempty"`
	// Versions are the tool versions that the project asks for: go 1.26, node 22.
	Versions map[string]string `json:"versions,omitempty"`
	// Descriptions are the project's own documents about its setup, the most useful first.
	Descriptions []Description `json:"descriptions,omitempty"`
	// Notes name what could not be read or was left out.
	Notes []string `json:"notes,omitempty"`
}

// File is one file that says something about the environment.
type File struct {
	Path string `json:"path"`
	// Kind is the file's kind, by its name: "go.mod", "requirements.txt", "devcontainer.json".
	Kind string `json:"kind"`
	// Environment is the kind of environment that the file needs; empty if none.
	Environment string `json:"environment,omitempty"`
	// Content is the beginning, as valid UTF-8; a last line says so if it was cut. In JSON it is in
	// detected_files.
	Content string `json:"-"`
	// SHA256 is the digest of the content, up to 64 MiB of it; empty if the file was not read.
	SHA256 string `json:"sha256,omitempty"`
	// Lock: the file fixes the versions of installed packages.
	Lock bool `json:"lock,omitempty"`
	// Manifest: the file names the packages to install.
	Manifest bool `json:"manifest,omitempty"`
	// Problem is why the file was not understood, or not completely.
	Problem string `json:"problem,omitempty"`
}

// Dependency is one direct dependency of a manifest.
type Dependency struct {
	// Ecosystem is its source: pypi, conda, npm, maven, go or docker.
	Ecosystem  string `json:"ecosystem"`
	Name       string `json:"name"`
	Constraint string `json:"constraint,omitempty"`
	File       string `json:"file"`
}

// Verification is a command that must exit 0 and print exactly Expected, apart from one trailing newline.
type Verification struct {
	Command  string `json:"command"`
	Expected string `json:"expected_output"`
}

// Description is a file that describes the project's setup.
type Description struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	// A devcontainer starts from Image or Dockerfile (relative to the project).
	Image      string `json:"image,omitempty"`
	Dockerfile string `json:"dockerfile,omitempty"`
	// Commands set up, Checks build and test.
	Commands []string          `json:"commands,omitempty"`
	Checks   []string          `json:"checks,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	// Unfit is why the commands can't be used as they are; empty if they can.
	Unfit string `json:"unfit,omitempty"`

	recipe string // what the commands do, if the file says so: a Makefile's recipes
}

// Detect finds out what the project needs. The catalogue holds the environments to choose from, at least
// one; language is the request's hint and may be empty. A file that can't be read or understood is a note,
// not an error.
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

// Locks returns the digests, by path, of everything that decides what a setup installs: manifests, lock
// files, and the files that the setup commands come from and start.
func (r Result) Locks() map[string]string {
	locks := map[string]string{}
	for _, f := range r.Files {
		if f.SHA256 != "" && (f.Lock || f.Manifest || f.Kind == script || f.Path == r.SetUpSource) {
			locks[f.Path] = f.SHA256
		}
	}
	return locks
}

// plainResult is a Result without its methods.
type plainResult Result

// document is the JSON form of a Result: one object holds the contents of the files by name.
type document struct {
	DetectedFiles map[string]string `json:"detected_files"`
	Rest          plainResult       `json:",embed"`
}

// MarshalJSON writes the contents of the files as detected_files {name: content}.
func (r Result) MarshalJSON() ([]byte, error) {
	d := document{DetectedFiles: make(map[string]string, len(r.Files)), Rest: plainResult(r)}
	for _, f := range r.Files {
		d.DetectedFiles[f.Path] = f.Content
	}
	data, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write detection: %w", err)
	}
	return data, nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Result) UnmarshalJSON(data []byte) error {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("read detection: %w", err)
	}
	*r = Result(d.Rest)
	for i := range r.Files {
		r.Files[i].Content = d.DetectedFiles[r.Files[i].Path]
	}
	return nil
}
