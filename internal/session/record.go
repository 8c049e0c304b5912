package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// recordFile is what was printed, as it was; the newest part is in files of its own, named by
// where they begin, until the session ends or if it never did in order.
const (
	recordFile    = "output.log"
	segmentPrefix = "output-"
	segmentSuffix = ".log"
)

// record keeps the beginning and the end of what is printed, a half of the limit each.
type record struct {
	dir     string
	limit   int64
	head    *os.File
	segment *os.File
	printed int64 // all
	begun   int64 // where the segment begins
}

// newRecord begins anew.
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

// turn begins a new segment when there is none or it is full, and drops all but the one before.
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

// Close puts all that is kept into one file.
func (r *record) Close() error {
	defer func() { _ = r.head.Close() }()
	if r.segment == nil {
		return nil
	}
	defer func() { _ = r.segment.Close() }()
	rest, err := openSegments(r.dir, r.limit/2)
	if err != nil {
		return err
	}
	defer func() { _ = rest.Close() }()
	if _, err := io.Copy(r.head, rest); err != nil {
		return fmt.Errorf("join record: %w", err)
	}
	old, err := segments(r.dir)
	for _, s := range old {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}

type segment struct {
	path  string
	begun int64
}

// segments are the files of a record but the first, in their order.
func segments(dir string) (list []segment, err error) {
	names, err := filepath.Glob(filepath.Join(dir, segmentPrefix+"*"+segmentSuffix))
	for _, path := range names {
		text := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), segmentPrefix), segmentSuffix)
		if begun, err := strconv.ParseInt(text, 10, 64); err == nil {
			list = append(list, segment{path, begun})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return int(a.begun - b.begun) })
	return list, err
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

// openSegments reads what follows the first size bytes, behind a line that says what is missing.
func openSegments(dir string, size int64) (*joined, error) {
	list, err := segments(dir)
	if err != nil {
		return nil, err
	}
	j, readers := &joined{}, []io.Reader{}
	for i, s := range list {
		if dropped := s.begun - size; i == 0 && dropped > 0 {
			readers = append(readers, strings.NewReader(fmt.Sprintf("\r\n[signalbox: %d bytes are not kept]\r\n", dropped)))
		}
		file, err := os.Open(s.path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open record: %w", err), j.Close())
		}
		j.files, readers = append(j.files, file), append(readers, file)
	}
	j.Reader = io.MultiReader(readers...)
	return j, nil
}

// openRecord reads a record from the beginning, whether it was closed or not.
func openRecord(dir string) (io.ReadCloser, error) {
	head, err := os.Open(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, fmt.Errorf("open record: %w", err)
	}
	info, err := head.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open record: %w", err), head.Close())
	}
	rest, err := openSegments(dir, info.Size())
	if err != nil {
		return nil, errors.Join(err, head.Close())
	}
	rest.Reader, rest.files = io.MultiReader(head, rest.Reader), append(rest.files, head)
	return rest, nil
}
