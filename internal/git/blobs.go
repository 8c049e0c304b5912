package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// fewBlobs is up to how many contents are asked for one by one.
const fewBlobs = 100

// Blobs hands over the contents of objects one after the other, each once, in the order of ids. Of a
// content longer than limit bytes only the beginning is given. What each is given holds until it returns.
func (r *Repo) Blobs(ctx context.Context, ids []string, limit int, each func(id string, content []byte)) error {
	if len(ids) == 0 {
		return nil
	}
	if err := checkIDs(ids...); err != nil {
		return fmt.Errorf("read contents: %w", err)
	}
	if len(ids) <= fewBlobs {
		few, cancel := context.WithTimeout(ctx, gitcmd.Slow)
		defer cancel()
		for len(ids) > 0 {
			content, err := r.beginning(few, "blob", ids[0], int64(limit))
			if err != nil {
				break // a process of its own says what is wrong
			}
			each(ids[0], content)
			ids = ids[1:]
		}
		if len(ids) == 0 {
			return nil
		}
	}
	reader := &blobReader{limit: limit, each: each}
	c := gitcmd.Call{Args: []string{"cat-file", "--batch", "--buffer"}, Config: []string{bigFile}, Input: strings.Join(ids, "\n") + "\n", Stdout: reader, Limit: gitcmd.Slow}
	if _, err := r.git.Run(ctx, c); err != nil {
		return fmt.Errorf("read contents: %w", err)
	}
	if reader.told != len(ids) {
		return fmt.Errorf("read contents: git gave %d of %d", reader.told, len(ids))
	}
	return nil
}

// blobReader takes apart what cat-file --batch prints: "<id> blob <size> LF", the content, LF.
type blobReader struct {
	limit int
	each  func(id string, content []byte)
	told  int
	// head is a first line that is not whole yet; then id and left are of the content that comes, which ends with a newline of git's.
	head    []byte
	id      string
	left    int64
	keep    int // how many bytes of it
	content []byte
}

func (b *blobReader) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		if b.id == "" {
			end := bytes.IndexByte(p, '\n')
			if end < 0 {
				b.head = append(b.head, p...)
				break
			}
			if err := b.begin(string(append(b.head, p[:end]...))); err != nil {
				return 0, err
			}
			p = p[end+1:]
			continue
		}
		n := min(int64(len(p)), b.left)
		b.content = append(b.content, p[:min(n, int64(b.keep-len(b.content)))]...)
		p, b.left = p[n:], b.left-n
		if b.left == 0 {
			b.each(b.id, b.content)
			b.id, b.told = "", b.told+1
		}
	}
	return written, nil
}

func (b *blobReader) begin(line string) (err error) {
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[1] != "blob" {
		return fmt.Errorf("git printed %q for a content", gitcmd.Clean(line))
	}
	b.left, err = strconv.ParseInt(fields[2], 10, 64)
	b.id, b.head, b.content = fields[0], b.head[:0], b.content[:0]
	b.keep = int(min(b.left, int64(b.limit)))
	b.left++ // the newline after it
	return err
}
