// Package inspect looks at what a change brings that a person has to know of: secrets, hidden characters, files that the
// user's git filters would alter, and tests that it weakens. It reads objects of the repository and decides nothing.
package inspect

import (
	"context"
	"fmt"
	"path"
	"strconv"

	"signalbox/internal/git"
	"signalbox/internal/perform/testcount"
	"signalbox/internal/redact"
	"signalbox/internal/workflow/policy"
)

// Inspector reads a change's content.
type Inspector struct {
	Repo   *git.Repo
	Redact *redact.Redactor
}

// inspectedBytes is the size of the largest file that is inspected: a larger one is refused for its size.
const inspectedBytes = 50 << 20

// Concerns looks for secrets and hidden characters in what a change adds: in the names of new files and in contents, link
// targets included. Lines that a file had before don't count. Hidden text in the request counts, because the change was made
// for it.
func (x Inspector) Concerns(ctx context.Context, request string, changes []git.Change) ([]policy.Concern, error) {
	all := hiddenIn(request)
	filtered, err := x.filtered(ctx, changes)
	if err != nil {
		return nil, err
	}
	all = append(all, filtered...)
	contents := map[string][]redact.Found{}
	var ids []string
	for _, c := range changes {
		if c.NewMode == git.Absent {
			continue
		}
		if c.OldMode == git.Absent {
			for _, f := range x.Redact.Find([]byte(c.Path)) {
				f.Line = 0
				all = append(all, x.Concern(c.Path, f))
			}
		}
		if _, known := contents[c.NewID]; !known && c.NewMode != git.Gitlink && c.Size <= inspectedBytes {
			contents[c.NewID] = nil
			ids = append(ids, c.NewID)
		}
	}
	look := func(id string, content []byte) {
		contents[id] = append(x.Redact.Find(content), redact.Concealed(content)...)
	}
	if err := x.Repo.Blobs(ctx, ids, inspectedBytes, look); err != nil {
		return nil, fmt.Errorf("inspect the change's content: %w", err)
	}
	ids = nil
	for _, c := range changes {
		if _, known := contents[c.OldID]; !known && len(contents[c.NewID]) > 0 && c.OldMode != git.Absent && c.OldMode != git.Gitlink {
			contents[c.OldID] = nil
			ids = append(ids, c.OldID)
		}
	}
	if err := x.Repo.Blobs(ctx, ids, inspectedBytes, look); err != nil {
		return nil, fmt.Errorf("inspect the content before the change: %w", err)
	}
	for _, c := range changes {
		before := map[redact.Found]bool{}
		if c.OldMode != git.Absent {
			for _, f := range contents[c.OldID] {
				f.Line = 0
				before[f] = true
			}
		}
		for _, f := range contents[c.NewID] {
			if line := f.Line; c.NewMode != git.Absent {
				if f.Line = 0; !before[f] {
					f.Line = line
					all = append(all, x.Concern(c.Path, f))
				}
			}
		}
	}
	return all, nil
}

// Concern describes what was found in a file; an empty path is for what is in no file.
func (x Inspector) Concern(path string, f redact.Found) policy.Concern {
	c := policy.Concern{Kind: policy.LikelySecret, What: f.Kind, Path: x.Redact.Line(path, 200), Line: f.Line}
	switch {
	case f.Name != "":
		c.Kind, c.What = policy.KnownSecret, redact.Line(f.Name, 100)
	case f.Character != "":
		c.Kind, c.What = policy.HiddenText, f.Character
	}
	return c
}

// hiddenIn returns the parts of a request that its reader doesn't see.
func hiddenIn(request string) (all []policy.Concern) {
	characters, commented := redact.Hidden(request)
	if characters > 0 {
		all = append(all, policy.Concern{Kind: policy.HiddenInRequest, What: strconv.Itoa(characters)})
	}
	if commented > 0 {
		all = append(all, policy.Concern{Kind: policy.CommentInRequest, What: strconv.Itoa(commented)})
	}
	return all
}

// filtered returns the files of a change that the user's git filters would alter. Filters are the user's programs, so none
// runs on an agent's files.
func (x Inspector) filtered(ctx context.Context, changes []git.Change) (all []policy.Concern, err error) {
	var paths []string
	for _, c := range changes {
		if c.NewMode == git.Regular || c.NewMode == git.Executable {
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	by, err := x.Repo.Filtered(ctx, paths)
	for _, path := range paths {
		if name, ok := by[path]; ok {
			all = append(all, policy.Concern{Kind: policy.FilteredFile, What: redact.Line(name, 100), Path: x.Redact.Line(path, 200)})
		}
	}
	return all, err
}

// countedBytes is how much of a file is searched for tests.
const countedBytes = 4 << 20

// Tests returns the test files that the change touches: existing ones, and new ones that can end the tests early.
func (x Inspector) Tests(ctx context.Context, changes []git.Change) (files []policy.TestFile, err error) {
	var touched []git.Change
	var ids []string
	contents, added := map[string][]byte{}, map[string]string{}
	want := func(id, mode string) {
		if _, known := contents[id]; !known && testcount.IsFile(mode) {
			contents[id] = nil
			ids = append(ids, id)
		}
	}
	for _, c := range changes {
		if c.OldMode == git.Absent {
			added[c.NewID] = c.Path
		}
		if (testcount.IsFile(c.OldMode) || testcount.IsFile(c.NewMode)) && testcount.Knows(c.Path) {
			touched = append(touched, c)
			want(c.OldID, c.OldMode)
			want(c.NewID, c.NewMode)
		}
	}
	if err := x.Repo.Blobs(ctx, ids, countedBytes, func(id string, content []byte) { contents[id] = append([]byte{}, content...) }); err != nil {
		return nil, fmt.Errorf("count tests: %w", err)
	}
	for _, c := range touched {
		if f, ok := testcount.File(c, contents); ok {
			f.Path = x.Redact.Line(path.Clean(c.Path), 200)
			if to := added[c.OldID]; f.Gone && to != "" {
				f.MovedTo = x.Redact.Line(path.Clean(to), 200)
			}
			files = append(files, f)
		}
	}
	return files, nil
}
