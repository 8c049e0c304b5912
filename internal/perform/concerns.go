package perform

import (
	"context"
	"fmt"
	"strconv"

	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/workflow/policy"
)

// inspectedBytes is the size of the largest file that is looked at: a larger one is refused for its size.
const inspectedBytes = 50 << 20

// concerns looks for secrets and hidden characters in what a change adds: in the names of new files and in
// contents, link targets among them, read as git has them. Lines that the file had before do not count. What hides in the
// request belongs to it: the change was made for it.
func (x *execution) concerns(ctx context.Context, changes []git.Change) (all []policy.Concern, err error) {
	if request, err := x.theRequest(ctx); err == nil {
		all = hiddenIn(request.Title + "\n" + request.Body)
	}
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
				all = append(all, x.concern(c.Path, f))
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
		return nil, fmt.Errorf("look at the change's content: %w", err)
	}
	ids = nil
	for _, c := range changes {
		if _, known := contents[c.OldID]; !known && len(contents[c.NewID]) > 0 && c.OldMode != git.Absent && c.OldMode != git.Gitlink {
			contents[c.OldID] = nil
			ids = append(ids, c.OldID)
		}
	}
	if err := x.Repo.Blobs(ctx, ids, inspectedBytes, look); err != nil {
		return nil, fmt.Errorf("look at the content before the change: %w", err)
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
					all = append(all, x.concern(c.Path, f))
				}
			}
		}
	}
	return all, nil
}

func (x *execution) concern(path string, f redact.Found) policy.Concern {
	c := policy.Concern{Kind: policy.LikelySecret, What: f.Kind, Path: x.Redact.Line(path, 200), Line: f.Line}
	switch {
	case f.Name != "":
		c.Kind, c.What = policy.KnownSecret, redact.Line(f.Name, 100)
	case f.Character != "":
		c.Kind, c.What = policy.HiddenText, f.Character
	}
	return c
}

// hiddenIn is what a reader of a request does not see of it.
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

// filtered are the files of a change that the user's git would store otherwise than the agent left them. Filters are
// programs of the user's, so none runs on what an agent wrote.
func (x *execution) filtered(ctx context.Context, changes []git.Change) (all []policy.Concern, err error) {
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
