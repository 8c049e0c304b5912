package perform

import (
	"context"
	"fmt"
	"path"

	"signalbox/internal/git"
	"signalbox/internal/perform/testcount"
	"signalbox/internal/workflow/policy"
)

// countedBytes is how much of a file is counted in.
const countedBytes = 4 << 20

// testFiles are the files of tests that the change touches: those that were there before, and new ones that can end the
// tests early.
func (x *execution) testFiles(ctx context.Context, changes []git.Change) (files []policy.TestFile, err error) {
	var touched []git.Change
	var ids []string
	contents, added := map[string][]byte{}, map[string]bool{}
	want := func(id, mode string) {
		if _, known := contents[id]; !known && testcount.IsFile(mode) {
			contents[id] = nil
			ids = append(ids, id)
		}
	}
	for _, c := range changes {
		if c.OldMode == git.Absent {
			added[c.NewID] = true
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
		if f, ok := testcount.File(c, contents, added[c.OldID]); ok {
			f.Path = x.Redact.Line(path.Clean(c.Path), 200)
			files = append(files, f)
		}
	}
	return files, nil
}
