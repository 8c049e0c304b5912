package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// object is the first line that "info" and "contents" print; Type is empty if there is no such object.
type object struct {
	ID, Type string
	Size     int64
}

func readObjectLine(out *bufio.Reader) (o object, err error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return o, err
	}
	fields := strings.Fields(line)
	if len(fields) == 3 && ValidID(fields[0]) {
		o.ID, o.Type = fields[0], fields[1]
		o.Size, err = strconv.ParseInt(fields[2], 10, 64)
		return o, err
	}
	if strings.HasSuffix(line, " missing\n") || strings.HasSuffix(line, " ambiguous\n") {
		return o, nil
	}
	return o, fmt.Errorf("git printed %q", gitcmd.Clean(line))
}

// info looks up an object by its id or a ref's full name. The caller has checked either.
func (r *Repo) info(ctx context.Context, name string) (o object, err error) {
	err = r.asked.Exchange(ctx, "info "+name+"\n", func(out *bufio.Reader) error {
		o, err = readObjectLine(out)
		return err
	})
	return o, err
}

// maxInline is the size in bytes up to which a file is read through the dialog, which must read it all.
const maxInline = 4 << 20

// beginning returns the first limit bytes of an object of that type. All of it passes through the dialog.
func (r *Repo) beginning(ctx context.Context, kind, id string, limit int64) (data []byte, err error) {
	err = r.asked.Exchange(ctx, "contents "+id+"\n", func(out *bufio.Reader) error {
		o, err := readObjectLine(out)
		if err != nil || o.Type != kind {
			return errors.Join(err, gitcmd.ErrEnded)
		}
		data = make([]byte, min(o.Size, limit))
		if _, err := io.ReadFull(out, data); err != nil {
			return err
		}
		_, err = io.CopyN(io.Discard, out, o.Size-int64(len(data))+1) // and the newline after it
		return err
	})
	return data, err
}

const (
	// behindLimit is how many commits back isBehind looks. A run's change is a few commits on top of its base.
	behindLimit = 32
	// commitHead, in bytes, holds the tree and parents of any commit that doesn't merge hundreds.
	commitHead = 4 << 10
)

// isBehind reports whether ancestor is commit, or a parent of it or of a commit in its recent
// history without merges. False means only that git must be asked.
func (r *Repo) isBehind(ctx context.Context, ancestor, commit string) bool {
	for _, cut := range []string{"shallow", "info/grafts"} { // git takes other parents than the commit names
		if _, err := os.Lstat(filepath.Join(r.git.GitDir, cut)); !os.IsNotExist(err) {
			return false
		}
	}
	for range behindLimit {
		if checkIDs(commit) != nil {
			return false
		}
		head, err := r.beginning(ctx, "commit", commit, commitHead)
		if err != nil {
			return false
		}
		var parents []string
		for line := range strings.Lines(string(head)) {
			id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "parent ")
			if ok && ValidID(id) {
				parents = append(parents, id)
			} else if !strings.HasPrefix(line, "tree ") {
				break
			}
		}
		if commit == ancestor {
			return true
		}
		if len(parents) != 1 {
			return slices.Contains(parents, ancestor)
		}
		commit = parents[0]
	}
	return false
}
