package git

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"

	"signalbox/internal/git/gitcmd"
)

// TreeFile is one regular file of a commit.
type TreeFile struct {
	// Path is relative to the top of the tree, with slashes: any bytes but NUL.
	Path string
	ID   string
	Size int64
	// Executable: the file may be run as a program.
	Executable bool
}

// TreeFiles lists the regular files of a commit by path. It leaves out symbolic links and submodules:
// following either leads out of the commit. With paths it lists only files at or below these.
func (r *Repo) TreeFiles(ctx context.Context, commit string, paths ...string) ([]TreeFile, error) {
	if err := checkIDs(commit); err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	args := append([]string{"ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--"}, paths...)
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args})
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", commit, err)
	}
	files, err := parseTree(string(out))
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", commit, err)
	}
	return files, nil
}

// parseTree reads "100644 blob <id> <size> TAB path NUL" records.
func parseTree(out string) (files []TreeFile, err error) {
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		entry, path, _ := strings.Cut(record, "\t")
		fields := strings.Fields(entry)
		if len(fields) != 4 {
			if record == "" {
				continue
			}
			return nil, fmt.Errorf("git printed the record %q", gitcmd.Clean(record))
		}
		if fields[0] != Regular && fields[0] != Executable {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git printed the record %q", gitcmd.Clean(record))
		}
		files = append(files, TreeFile{Path: path, ID: fields[2], Size: size, Executable: fields[0] == Executable})
	}
	return files, nil
}

// maxLink is the longest target of a symbolic link that Linux takes, in bytes.
const maxLink = 4096

// Links returns where the symbolic links of a commit lead, by their paths: other paths of the commit, which may be links too. root is the
// absolute path at which programs see the commit. A link that leads out of it is left out.
func (r *Repo) Links(ctx context.Context, commit, root string) (map[string]string, error) {
	if err := checkIDs(commit); err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}})
	if err != nil {
		return nil, fmt.Errorf("list links of %s: %w", commit, err)
	}
	at, ids := map[string][]string{}, []string{}
	for record := range strings.SplitSeq(string(out), "\x00") {
		if entry, name, _ := strings.Cut(record, "\t"); strings.HasPrefix(entry, Symlink+" ") {
			id := entry[strings.LastIndexByte(entry, ' ')+1:]
			if at[id] == nil {
				ids = append(ids, id)
			}
			at[id] = append(at[id], name)
		}
	}
	links := map[string]string{}
	err = r.Blobs(ctx, ids, maxLink, func(id string, content []byte) {
		for _, name := range at[id] {
			to := path.Join(root, path.Dir(name), string(content))
			if path.IsAbs(string(content)) {
				to = path.Clean(string(content))
			}
			if below, ok := strings.CutPrefix(to, root+"/"); ok {
				links[name] = below
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read links of %s: %w", commit, err)
	}
	return links, nil
}

// ReadBlob returns the first limit bytes of a regular file of a commit as stored, without filters or line
// endings. fs.ErrNotExist if there is none.
func (r *Repo) ReadBlob(ctx context.Context, commit, path string, limit int64) ([]byte, error) {
	absent := fmt.Errorf("read %q of %s: %w", gitcmd.Clean(path), commit, fs.ErrNotExist)
	if !fs.ValidPath(path) || path == "." {
		return nil, absent
	}
	files, err := r.TreeFiles(ctx, commit, path)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 || files[0].Path != path {
		return nil, absent
	}
	return r.readObject(ctx, files[0].ID, limit)
}

func (r *Repo) readObject(ctx context.Context, id string, limit int64) ([]byte, error) {
	if o, err := r.info(ctx, id); err == nil && o.Type == "blob" && o.Size <= maxInline {
		if data, err := r.beginning(ctx, "blob", id, limit); err == nil {
			return data, nil
		}
	}
	out := head{limit: limit}
	c := gitcmd.Call{Args: []string{"cat-file", "blob", id}, Config: []string{bigFile}, Stdout: &out}
	if _, err := r.git.Run(ctx, c); err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return out.kept, nil
}

// head keeps the first limit bytes that are written to it.
type head struct {
	limit int64
	kept  []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(int64(len(p)), h.limit-int64(len(h.kept)))]...)
	return len(p), nil
}

// Content gives access to the regular files of one commit by name, listed once. It is safe for
// concurrent use.
type Content struct {
	repo   *Repo
	commit string

	mu  sync.Mutex
	ids map[string]string
	all []string
}

// Content returns the files of a commit, which never change.
func (r *Repo) Content(commit string) *Content { return &Content{repo: r, commit: commit} }

// List returns the names of the files, in order.
func (c *Content) List(ctx context.Context) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids != nil {
		return c.all, nil
	}
	files, err := c.repo.TreeFiles(ctx, c.commit)
	if err != nil {
		return nil, err
	}
	c.ids = make(map[string]string, len(files))
	for _, f := range files {
		c.all = append(c.all, f.Path)
		c.ids[f.Path] = f.ID
	}
	return c.all, nil
}

// Read returns the first limit bytes of a file; fs.ErrNotExist if there is none.
func (c *Content) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	if _, err := c.List(ctx); err != nil {
		return nil, err
	}
	id, ok := c.ids[name]
	if !ok {
		return nil, fmt.Errorf("read %q of %s: %w", gitcmd.Clean(name), c.commit, fs.ErrNotExist)
	}
	return c.repo.readObject(ctx, id, limit)
}

// WorkFiles lists the files of the work tree by name: tracked ones, even if deleted or not regular, and
// untracked ones that aren't ignored.
func (r *Repo) WorkFiles(ctx context.Context) ([]string, error) {
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, User: true})
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", r.git.Root, err)
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}

// Tracked lists the index's entries at or below a path. A submodule is one entry.
func (r *Repo) Tracked(ctx context.Context, path string) ([]string, error) {
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"ls-files", "-z", "--cached", "--deduplicate", "--", path}, Dir: r.git.Root, User: true})
	if err != nil {
		return nil, fmt.Errorf("list tracked files below %s: %w", path, err)
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}
