package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/git/gitcmd"
)

// ErrUnsure: a file of the work tree can't be compared with what git has recorded, so it may have come
// with a commit.
var ErrUnsure = errors.New("not known to be the user's own")

// recordedIn lists where a commit's files can be: HEAD, the index with the stages of a conflict, and the
// commits of an unfinished merge, pick, revert or rebase.
var recordedIn = []string{"HEAD", ":0", ":1", ":2", ":3", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"}

// recordedLimit is far more than two look-ups take. A person waits for them at a prompt.
const recordedLimit = 20 * time.Second

// Recorded returns the recorded content of some files of the work tree, by path, one map for each place
// that records any of them. It runs no program that the repository names. The error is ErrUnsure if a
// file in the work tree can differ from its record without an edit: below a link or a submodule, under
// a name that only a case-insensitive file system takes for it, or rewritten by an attribute.
func (r *Repo) Recorded(ctx context.Context, paths ...string) (places []map[string][]byte, err error) {
	for _, path := range paths {
		if err := r.plainFile(path); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, place := range recordedIn {
		for _, path := range paths {
			names = append(names, place+":"+path)
		}
	}
	found, err := r.objects(ctx, names)
	if err != nil {
		return nil, err
	}
	tracked := false
	for _, place := range recordedIn {
		held := map[string][]byte{}
		for _, path := range paths {
			if content, ok := found[place+":"+path]; ok {
				held[path], tracked = content, true
			}
		}
		if len(held) > 0 {
			places = append(places, held)
		}
	}
	if !tracked {
		return places, nil
	}
	args := append([]string{"check-attr", "-z", "filter", "ident", "working-tree-encoding", "--"}, paths...)
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, Limit: recordedLimit})
	if err != nil {
		return places, fmt.Errorf("look for attributes: %w", err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for ; len(fields) > 2; fields = fields[3:] {
		if value := fields[2]; value != "unspecified" && value != "unset" {
			return places, fmt.Errorf("%w: the attribute %s rewrites %q", ErrUnsure, fields[1], fields[0])
		}
	}
	return places, nil
}

// recalled is how many commits that touch the files RecordedBefore reads; more are ErrUnsure.
const recalled = 5000

// RecordedBefore is Recorded for all commits that refs, their history and reflogs lead to, and for the last reset and fetch: a file that came
// with a commit can stay after the commit is undone. What a partial clone lacks is left out.
func (r *Repo) RecordedBefore(ctx context.Context, paths ...string) (places []map[string][]byte, err error) {
	args := append([]string{"log", "--all", "--reflog", "--full-history", "--format=%H", "--max-count=" + strconv.Itoa(recalled), "--"}, paths...)
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, Limit: recordedLimit})
	if err != nil {
		return nil, fmt.Errorf("list the commits that touch %q: %w", paths, err)
	}
	commits := append(strings.Fields(string(out)), "ORIG_HEAD", "FETCH_HEAD")
	if len(commits) > recalled {
		return nil, fmt.Errorf("%w: more than %d commits touch %q", ErrUnsure, recalled, paths)
	}
	var names []string
	for _, commit := range commits {
		for _, path := range paths {
			names = append(names, commit+":"+path)
		}
	}
	found, err := r.objects(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, commit := range commits {
		held := map[string][]byte{}
		for _, path := range paths {
			if content, ok := found[commit+":"+path]; ok {
				held[path] = content
			}
		}
		if same := func(other map[string][]byte) bool { return maps.EqualFunc(held, other, bytes.Equal) }; len(held) > 0 && !slices.ContainsFunc(places, same) {
			places = append(places, held)
		}
	}
	return places, nil
}

// plainFile refuses a file of the work tree that git would record under another path, or not at all. A
// missing file is plain.
func (r *Repo) plainFile(path string) error {
	at := r.git.Root
	for part := range strings.SplitSeq(path, "/") {
		entries, err := os.ReadDir(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look at %q: %w", path, err)
		}
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		named := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == part })
		if err != nil || !named || !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%w: %q is no plain file or folder", ErrUnsure, at)
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return fmt.Errorf("%w: %q is a repository of its own", ErrUnsure, at)
		}
	}
	return nil
}

// objects reads blobs by name and skips missing ones. It fetches nothing for a partial clone.
func (r *Repo) objects(ctx context.Context, names []string) (map[string][]byte, error) {
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"cat-file", "--batch"}, Input: strings.Join(names, "\n") + "\n", Dir: r.git.Root,
		Env: []string{"GIT_NO_LAZY_FETCH=1"}, Config: []string{bigFile}, Limit: recordedLimit})
	if err != nil {
		return nil, fmt.Errorf("read what is recorded: %w", err)
	}
	found := map[string][]byte{}
	for _, name := range names {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		if out = rest; bytes.HasSuffix(head, []byte(" missing")) {
			continue
		}
		fields := strings.Fields(string(head))
		size := -1
		if len(fields) == 3 {
			size, _ = strconv.Atoi(fields[2])
		}
		if size < 0 || size >= len(out) {
			return nil, fmt.Errorf("%w: git says of %q: %s", ErrUnsure, name, gitcmd.Clean(string(head)))
		}
		if fields[1] != "blob" {
			return nil, fmt.Errorf("%w: %q is a %s", ErrUnsure, name, fields[1])
		}
		found[name], out = out[:size], out[size+1:]
	}
	return found, nil
}
