package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/git/gitcmd"
	"signalbox/internal/lazy"
)

// DataFile is a file of a commit that no work tree ever has.
type DataFile struct {
	// Path is relative to the top of the tree, with slashes: letters, digits, dots, dashes and underscores.
	Path    string
	Content []byte
}

var dataPath = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// CommitData writes a commit of exactly these files, has ref (below refs/signalbox/) point to it wherever ref was before, and returns
// its id. The id depends on the other arguments alone. The parents are there to travel with the commit: a push brings them, too.
func (r *Repo) CommitData(ctx context.Context, ref string, files []DataFile, parents []string, message string, who Identity, when time.Time) (string, error) {
	if !strings.HasPrefix(ref, importPrefix) {
		return "", fmt.Errorf("commit data: %w ref %q: it must be below %s", ErrInvalid, ref, importPrefix)
	}
	if err := errors.Join(checkRef(ref), checkIDs(parents...)); err != nil {
		return "", fmt.Errorf("commit data: %w", err)
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter %s <%s> %d +0000\ndata %d\n%s\n", ref, who.Name, who.Email, when.Unix(), len(message), message)
	for i, parent := range parents {
		word := "merge"
		if i == 0 {
			word = "from"
		}
		fmt.Fprintf(&in, "%s %s\n", word, parent)
	}
	in.WriteString("deleteall\n")
	for _, file := range files {
		if !dataPath().MatchString(file.Path) || strings.Contains(file.Path, "..") {
			return "", fmt.Errorf("commit data: %w path %q", ErrInvalid, file.Path)
		}
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", Regular, file.Path, len(file.Content), file.Content)
	}
	in.WriteString("done\n")
	c := gitcmd.Call{Args: []string{"fast-import", "--quiet", "--force", "--done"}, Stdin: &in, Limit: gitcmd.Slow}
	if _, err := r.git.Run(ctx, c); err != nil {
		return "", fmt.Errorf("commit data: %w", err)
	}
	return r.Resolve(ctx, ref)
}

// Limits of what is read of a commit of data, which anyone may have pushed. maxDataList is bytes.
const (
	maxDataList  = 1 << 20
	maxDataFiles = 4096
)

// DataFiles reads a commit that holds nothing but data. ErrInvalid if anything in it is no plain file (a link, a submodule, a program), or
// if a file is larger than each bytes, or all together than total.
func (r *Repo) DataFiles(ctx context.Context, commit string, each, total int64) ([]DataFile, error) {
	if err := checkIDs(commit); err != nil {
		return nil, fmt.Errorf("read data: %w", err)
	}
	list := head{limit: maxDataList}
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"ls-tree", "-r", "-l", "-z", "--full-tree", commit}, Stdout: &list}); err != nil {
		return nil, fmt.Errorf("list data of %s: %w", commit, err)
	}
	files, err := parseTree(string(list.kept))
	if err != nil {
		return nil, fmt.Errorf("list data of %s: %w", commit, err)
	}
	if entries := bytes.Count(list.kept, []byte{0}); len(list.kept) == maxDataList || len(files) != entries || len(files) > maxDataFiles {
		return nil, fmt.Errorf("read data of %s: %w content: too many files, or one that is no plain file", commit, ErrInvalid)
	}
	data, ids := make([]DataFile, 0, len(files)), make([]string, 0, len(files))
	for _, f := range files {
		total -= f.Size
		if f.Executable || f.Size > each || total < 0 || !dataPath().MatchString(f.Path) || strings.Contains(f.Path, "..") {
			return nil, fmt.Errorf("read data of %s: %w content: the file %q is a program, is too large or has an unknown name", commit, ErrInvalid, gitcmd.Clean(f.Path))
		}
		data, ids = append(data, DataFile{Path: f.Path}), append(ids, f.ID)
	}
	next := 0
	err = r.Blobs(ctx, ids, int(each), func(_ string, content []byte) {
		data[next].Content = bytes.Clone(content)
		next++
	})
	return data, err
}
