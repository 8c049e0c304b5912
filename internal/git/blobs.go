package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// fewBlobs is the number of contents up to which they are read one by one.
const fewBlobs = 100

// Blobs calls each with the content of every object, in the order of ids, cut after limit bytes. The
// content is valid until each returns.
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
				break // the process below reports what is wrong
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
	if reader.given != len(ids) {
		return fmt.Errorf("read contents: git gave %d of %d", reader.given, len(ids))
	}
	return nil
}

// blobReader parses what cat-file --batch prints: "<id> blob <size> LF", the content, LF.
type blobReader struct {
	limit int
	each  func(id string, content []byte)
	given int
	// head is an incomplete first line. Then id and left describe the content that follows; left, in
	// bytes, includes the newline that git adds.
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
			line := string(append(b.head, p[:end]...))
			fields := strings.Fields(line)
			if len(fields) != 3 || fields[1] != "blob" {
				return 0, fmt.Errorf("git printed %q for a content", gitcmd.Clean(line))
			}
			size, err := strconv.ParseInt(fields[2], 10, 64)
			if err != nil {
				return 0, err
			}
			b.id, b.head, b.content = fields[0], b.head[:0], b.content[:0]
			b.keep = int(min(size, int64(b.limit)))
			b.left = size + 1 // the newline after it
			p = p[end+1:]
			continue
		}
		n := min(int64(len(p)), b.left)
		b.content = append(b.content, p[:min(n, int64(b.keep-len(b.content)))]...)
		p, b.left = p[n:], b.left-n
		if b.left == 0 {
			b.each(b.id, b.content)
			b.id, b.given = "", b.given+1
		}
	}
	return written, nil
}
