package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// recordFile holds the beginning of the output, unchanged. Once there is enough, the newest part is in files
// of its own, named by the offset where they begin. They are never joined: a reader during that, or after a
// host was killed doing it, would see them twice.
const (
	recordFile    = "output.log"
	segmentPrefix = "output-"
	segmentSuffix = ".log"
)

// record keeps the beginning and the end of the output, each half of the limit.
type record struct {
	dir     string
	limit   int64
	head    *os.File
	segment *os.File
	printed int64 // all
	begun   int64 // where the segment begins
}

// newRecord starts a record, and removes an earlier one.
func newRecord(dir string, limit int64) (*record, error) {
	if limit <= 0 {
		limit = DefaultRecordLimit
	}
	old, err := segments(dir)
	for _, s := range old {
		err = errors.Join(err, os.Remove(s.path))
	}
	if err != nil {
		return nil, fmt.Errorf("remove earlier output: %w", err)
	}
	r := &record{dir: dir, limit: limit}
	r.head, err = create(filepath.Join(dir, recordFile))
	return r, err
}

func create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replace record: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	return file, nil
}

// Write implements io.Writer.
func (r *record) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		to, room := r.head, r.limit/2-r.printed
		if room <= 0 {
			if err := r.turn(); err != nil {
				return 0, err
			}
			to, room = r.segment, r.begun+r.limit/4-r.printed
		}
		n, err := to.Write(p[:min(int64(len(p)), room)])
		r.printed += int64(n)
		if err != nil {
			return 0, fmt.Errorf("record output: %w", err)
		}
		p = p[n:]
	}
	return written, nil
}

// turn begins a new segment if there is none or it is full, and drops all but the one before.
func (r *record) turn() error {
	if r.segment != nil && r.printed < r.begun+r.limit/4 {
		return nil
	}
	kept, err := segments(r.dir)
	if err == nil && len(kept) > 1 {
		err = os.Remove(kept[0].path)
	}
	if r.segment != nil {
		err = errors.Join(err, r.segment.Close())
	}
	if err != nil {
		return fmt.Errorf("drop output: %w", err)
	}
	r.begun = r.printed
	r.segment, err = create(filepath.Join(r.dir, segmentPrefix+strconv.FormatInt(r.begun, 10)+segmentSuffix))
	return err
}

// Close leaves the files as they are. A nil record has none.
func (r *record) Close() error {
	if r == nil {
		return nil
	}
	err := r.head.Close()
	if r.segment != nil {
		err = errors.Join(err, r.segment.Close())
	}
	if err != nil {
		return fmt.Errorf("close record: %w", err)
	}
	return nil
}

type segment struct {
	path  string
	begun int64
}

// segments lists the files of a record except the first, in their order.
func segments(dir string) (list []segment, err error) {
	names, err := filepath.Glob(filepath.Join(dir, segmentPrefix+"*"+segmentSuffix))
	for _, path := range names {
		if begun, err := beginning(path); err == nil {
			list = append(list, segment{path, begun})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.begun, b.begun) })
	return list, err
}

// beginning returns the offset where the file of this name begins.
func beginning(path string) (int64, error) {
	text := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), segmentPrefix), segmentSuffix)
	return strconv.ParseInt(text, 10, 64)
}

// joined reads several files as one.
type joined struct {
	io.Reader
	files []*os.File
}

// Close implements io.Closer.
func (j *joined) Close() (err error) {
	for _, file := range j.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

// openTries is how often to open the files again because a host drops some meanwhile.
const openTries = 100

// openRecord reads a record from its beginning, even while it is written. It opens the newest files before the
// first one: if there are any, the first is full, so the size of the gap is known.
func openRecord(dir string) (_ io.ReadCloser, err error) {
	j := &joined{}
	for range openTries {
		if j.files, err = openSegments(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err == nil {
		err = j.openHead(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open record: %w", err), j.Close())
	}
	return j, nil
}

// openFile opens a part of a record. It refuses a link or a pipe in its place.
func openFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is no regular file", path), err, file.Close())
	}
	return file, nil
}

// openSegments opens all files but the first, in their order.
func openSegments(dir string) (files []*os.File, err error) {
	list, err := segments(dir)
	for _, s := range list {
		var file *os.File
		if file, err = openFile(s.path); err != nil {
			break
		}
		files = append(files, file)
	}
	if err != nil {
		return nil, errors.Join(err, (&joined{files: files}).Close())
	}
	return files, nil
}

// openHead puts the first file before the others, and between them a line about the gap.
func (j *joined) openHead(dir string) error {
	head, err := openFile(filepath.Join(dir, recordFile))
	if err != nil {
		return err
	}
	readers := []io.Reader{head}
	if len(j.files) > 0 {
		info, err := head.Stat()
		if err != nil {
			return errors.Join(err, head.Close())
		}
		begun, _ := beginning(j.files[0].Name())
		if dropped := begun - info.Size(); dropped > 0 {
			readers = append(readers, strings.NewReader(fmt.Sprintf("\r\n[signalbox: %d bytes are not kept]\r\n", dropped)))
		}
	}
	for _, file := range j.files {
		readers = append(readers, file)
	}
	j.Reader, j.files = io.MultiReader(readers...), append(j.files, head)
	return nil
}
