package git

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"signalbox/internal/git/gitcmd"
)

// Change is one file that differs between two commits.
type Change struct {
	// Path is relative to the top of the tree, with slashes: any bytes but NUL.
	Path string
	// OldMode and NewMode are six octal digits; Absent if there is no file.
	OldMode, NewMode string
	// OldID and NewID are the object ids; zeros if there is no file.
	OldID, NewID string
	// Added and Deleted are lines; -1 for a binary file.
	Added, Deleted int
	// Size is in bytes, after the change; 0 if deleted, and for a submodule.
	Size int64
}

// The modes that git gives to the entries of a tree.
const (
	Absent     = "000000"
	Regular    = "100644"
	Executable = "100755"
	Symlink    = "120000"
	Gitlink    = "160000" // a commit of another repository: a submodule
)

// A larger file counts as binary: line by line, a diff takes some twenty times its size in memory.
const bigFile = "core.bigFileThreshold=16m"

// Changes lists the files that differ between two commits, by path. A renamed file is one deleted and
// one added. Attributes in the content are ignored, so a change can't call itself binary to hide.
func (r *Repo) Changes(ctx context.Context, from, to string) ([]Change, error) {
	return r.compare(ctx, from, to, true)
}

// compare compares two commits, or remembers the comparison of their trees. It reads files only with counted.
func (r *Repo) compare(ctx context.Context, from, to string, counted bool) (changes []Change, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("compare %s with %s: %w", from, to, err)
		}
	}()
	var trees [2]string
	for i, commit := range []string{from, to} {
		if trees[i], err = r.TreeOf(ctx, commit); err != nil {
			return nil, err
		}
	}
	if known := r.compared.find(trees, counted); known != nil {
		return known, nil
	}
	args := []string{"diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"}
	c := gitcmd.Call{Config: []string{bigFile}}
	if counted {
		args, c.Limit = append(args, "--numstat"), gitcmd.Slow
	}
	c.Args = append(args, from, to, "--")
	out, err := r.git.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	changes, counts, err := parseRaw(out)
	if err == nil && counted {
		err = r.measure(ctx, changes, counts)
	}
	if err != nil {
		return nil, err
	}
	last := r.compared
	last.mu.Lock()
	defer last.mu.Unlock()
	if len(changes) > 0 && len(changes) <= comparedLimit && (counted || last.trees != trees || !last.counted) {
		last.trees, last.changes, last.counted = trees, slices.Clone(changes), counted
	}
	return changes, nil
}

// parseRaw reads ":100644 100755 <old id> <new id> M NUL path NUL" records, and returns the fields that follow them.
func parseRaw(out []byte) (changes []Change, rest []string, err error) {
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if fields[0] == "" {
		return nil, nil, nil
	}
	for i := 0; i < len(fields); i += 2 {
		words, raw := strings.CutPrefix(fields[i], ":")
		if !raw && i > 0 {
			return changes, fields[i:], nil
		}
		record := strings.Fields(words)
		if len(record) != 5 || i+1 == len(fields) {
			return nil, nil, fmt.Errorf("git printed the record %q", gitcmd.Clean(fields[i]))
		}
		changes = append(changes, Change{
			Path: fields[i+1], OldMode: record[0], NewMode: record[1], OldID: record[2], NewID: record[3],
		})
	}
	return changes, nil, nil
}

// measure sets the lines and sizes of changes. The records, one for each change in order, are
// "<added> TAB <deleted> TAB path", with "-" for a binary file.
func (r *Repo) measure(ctx context.Context, changes []Change, records []string) error {
	if len(records) != len(changes) {
		return fmt.Errorf("git counted the lines of %d files of %d", len(records), len(changes))
	}
	for i := range changes {
		c, fields := &changes[i], strings.SplitN(records[i], "\t", 3)
		if len(fields) != 3 || fields[2] != c.Path {
			return fmt.Errorf("git printed the count %q", gitcmd.Clean(records[i]))
		}
		for j, count := range []*int{&c.Added, &c.Deleted} {
			n, err := strconv.Atoi(fields[j])
			if err != nil {
				n = -1
			}
			*count = n
		}
		if c.NewMode == Absent || c.NewMode == Gitlink {
			continue
		}
		o, err := r.info(ctx, c.NewID)
		if err == nil && o.Type == "" {
			err = ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("measure %q: %w", gitcmd.Clean(c.Path), err)
		}
		c.Size = o.Size
	}
	return nil
}

// Patch writes the difference between two commits as a patch that git can apply: with full ids, binary
// files, and a/ and b/ before the names.
func (r *Repo) Patch(ctx context.Context, from, to string, w io.Writer) error {
	return r.patch(ctx, from, to, w, "--binary", "--no-renames")
}

// Diff is Patch for people: a renamed file is one file, and of a binary file it only says that it differs.
func (r *Repo) Diff(ctx context.Context, from, to string, w io.Writer) error {
	return r.patch(ctx, from, to, w, "--find-renames")
}

func (r *Repo) patch(ctx context.Context, from, to string, w io.Writer, how ...string) error {
	if err := checkIDs(from, to); err != nil {
		return fmt.Errorf("make patch: %w", err)
	}
	args := append([]string{
		"diff-tree", "-r", "-p", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=3",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
	}, how...)
	args = append(args, from, to, "--")
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: args, Config: []string{bigFile}, Stdout: w, Limit: gitcmd.Slow}); err != nil {
		return fmt.Errorf("make patch from %s to %s: %w", from, to, err)
	}
	return nil
}

// comparedLimit is how many files a remembered comparison may have. Few changes have more, and those
// take long anyway.
const comparedLimit = 10_000

// compared is the last comparison. Two trees always differ in the same way, and one change is looked at
// several times: when it is recorded, as a whole, and when it is merged.
type compared struct {
	mu      sync.Mutex
	trees   [2]string
	changes []Change
	counted bool

	index comparedIndex
}

// comparedIndex is the last comparison of the checkout's index with a commit.
type comparedIndex struct {
	mu      sync.Mutex
	of      *indexState
	entries []Change
}

type indexState struct {
	commit     string
	device     uint64
	inode      uint64
	size       int64
	mtim, ctim syscall.Timespec
}

// find returns the remembered comparison of two trees, nil if there is none. With counted it has sizes
// and lines.
func (c *compared) find(trees [2]string, counted bool) []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trees != trees || counted && !c.counted {
		return nil
	}
	return slices.Clone(c.changes)
}
