package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// stageDir is where new files are written before they are renamed into place: in the checkout, because
// only there is a rename sure to work. It ignores itself, so what a killed process left isn't committed,
// and the next call removes it. Files of a commit with its name are refused.
const stageDir = ".signalbox-checkout"

// apply does what check found open: remove, write, then stage. Each part may be cut short and repeated.
func (c *checkout) apply(ctx context.Context) error {
	if err := c.root.RemoveAll(stageDir); err != nil {
		return err
	}
	for _, f := range c.changes {
		switch {
		case f.NewMode != Absent && f.NewMode != Gitlink, f.OldMode == Absent, c.notOld[f.Path]:
			continue
		case f.OldMode == Gitlink:
			// Only an empty folder can go; a submodule's files stay.
			_ = c.root.Remove(f.Path)
			continue
		}
		if err := c.root.Remove(f.Path); err != nil {
			return err
		}
		// A folder that holds something else can't be removed.
		for dir := path.Dir(f.Path); dir != "." && c.root.Remove(dir) == nil; {
			dir = path.Dir(dir)
		}
	}
	// How a file is written depends on the attributes that are in the checkout at that moment.
	attributes, others := c.toWrite()
	for _, files := range [][]Change{attributes, others} {
		if err := c.write(ctx, files); err != nil {
			return err
		}
	}
	return c.stage(ctx)
}

func (c *checkout) toWrite() (attributes, others []Change) {
	for _, f := range c.changes {
		switch {
		case f.NewMode == Absent || f.NewMode != Gitlink && !c.notNew[f.Path]:
		case path.Base(f.Path) == ".gitattributes":
			attributes = append(attributes, f)
		default:
			others = append(others, f)
		}
	}
	return attributes, others
}

// write makes the files in stageDir and renames each into its place.
func (c *checkout) write(ctx context.Context, files []Change) (err error) {
	if len(files) == 0 {
		return nil
	}
	defer func() { err = errors.Join(err, c.root.RemoveAll(stageDir)) }()
	if err := c.writeStaged(ctx, files); err != nil {
		return err
	}
	for _, f := range files {
		if err := c.place(f); err != nil {
			return err
		}
	}
	return nil
}

// writeStaged makes the files in stageDir, as the user's git writes them.
func (c *checkout) writeStaged(ctx context.Context, files []Change) error {
	if err := c.root.Mkdir(stageDir, 0o700); err != nil {
		return err
	}
	if err := c.root.WriteFile(stageDir+"/.gitignore", []byte("*\n"), 0o600); err != nil {
		return err
	}
	var entries strings.Builder
	for _, f := range files {
		if f.NewMode != Gitlink {
			fmt.Fprintf(&entries, "%s %s\t%s\x00", f.NewMode, f.NewID, f.Path)
		}
	}
	if entries.Len() == 0 {
		return nil
	}
	if err := c.scratchIndex(ctx, entries.String()); err != nil {
		return err
	}
	defer c.removeScratchIndex()
	_, err := c.repo.git.Run(ctx, c.scratch("checkout-index", "--all", "--prefix="+stageDir+"/files/"))
	return err
}

func (c *checkout) place(f Change) error {
	if f.NewMode == Gitlink {
		return c.root.MkdirAll(f.Path, 0o777)
	}
	if err := c.root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
		return err
	}
	if c.isDir(f.Path) { // only empty folders may be left in the file's place
		var folders []string
		err := fs.WalkDir(c.root.FS(), f.Path, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders = append(folders, path)
			}
			return err
		})
		for i := len(folders) - 1; i >= 0 && err == nil; i-- {
			err = c.root.Remove(folders[i])
		}
		if err != nil {
			return err
		}
	}
	return c.root.Rename(stageDir+"/files/"+f.Path, f.Path)
}

// stage puts the new entries into the index, then lets git note the times of the new files; without
// them, the next status would read every file.
func (c *checkout) stage(ctx context.Context) error {
	if len(c.unstaged) == 0 {
		return nil
	}
	var entries strings.Builder
	for _, f := range c.unstaged {
		// To git, mode zero (Absent) means to remove the entry.
		fmt.Fprintf(&entries, "%s %s\t%s\x00", f.NewMode, f.NewID, f.Path)
	}
	args := []string{"update-index", "-z", "--index-info"}
	if _, err := c.repo.git.Run(ctx, gitcmd.Call{Args: args, Input: entries.String(), Dir: c.dir, User: true, Limit: gitcmd.Slow}); err != nil {
		return err
	}
	_, err := c.repo.git.Run(ctx, gitcmd.Call{Args: []string{"update-index", "-q", "--refresh"}, Dir: c.dir, User: true, Limit: gitcmd.Slow})
	if failed := (*gitcmd.Error)(nil); errors.As(err, &failed) && failed.Signal == "" {
		return nil // a filter of another file may fail here; missing times do no harm
	}
	return err
}
