package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// statusIndex is what files of .worktrees/.status were when they were listed, by
// issue. A file with the same identity is the same, as long as
//
//   - the machine was not started since: before that, an identity may have
//     reached the disk without the bytes, and devices had other numbers;
//   - it had its identity for a while when it was read (indexRules.settled);
//   - who writes it does so with system calls. What is stored through a mapping
//     (mmap) gets no time of its own; git's index bears with that too.
type statusIndex struct {
	entries []byte
	begins  []uint32 // where in entries each one begins
}

// indexed is a file and its bytes.
type indexed struct {
	issue int
	at    identity
	data  []byte
}

// of finds an issue's file. It is at place, unless files were added or removed.
func (x statusIndex) of(issue, place int) (indexed, bool) {
	if place >= len(x.begins) || x.issue(x.begins[place]) != issue {
		found, ok := slices.BinarySearchFunc(x.begins, issue, func(begin uint32, issue int) int { return cmp.Compare(x.issue(begin), issue) })
		if !ok {
			return indexed{}, false
		}
		place = found
	}
	r := indexReader{x.entries[x.begins[place]:]}
	return r.entry()
}

func (x statusIndex) issue(begin uint32) int {
	return int(binary.LittleEndian.Uint64(x.entries[begin:]))
}

// The format: a line that names it, its version and the machine's start; how
// many files; of each its issue, device, inode, size, mtime, ctime and bytes; the
// CRC-32C of all that. Numbers are of 8 bytes, the sum of 4, the lowest first;
// times are nanoseconds since 1970.
const (
	numberSize    = 8
	entryNumbers  = 6
	entrySize     = entryNumbers * numberSize
	indexSumSize  = 4
	maxIndexed    = 4 << 10  // bytes of a file; larger ones are read every time
	maxIndex      = 64 << 20 // bytes of an index; a larger one is not written
	indexMinimum  = numberSize + indexSumSize
	indexFormat   = "signalbox issue-status index 1 "
	indexFileName = "issue-status.index"
)

// indexHeader begins every index that was written since the machine was started.
func indexHeader(boot string) []byte { return []byte(indexFormat + boot + "\n") }

// errIndex: an index is not to be trusted, or of no use.
var errIndex = errors.New("not an index of this version and this start of the machine, or damaged")

func indexSum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

func encodeIndex(x []indexed, boot string) ([]byte, error) {
	header := indexHeader(boot)
	size := len(header) + indexMinimum
	for _, e := range x {
		size += entrySize + len(e.data)
	}
	if size > maxIndex {
		return nil, errors.New("too large")
	}
	data := append(make([]byte, 0, size), header...)
	data = binary.LittleEndian.AppendUint64(data, uint64(len(x)))
	for _, e := range x {
		for _, n := range [entryNumbers]uint64{uint64(e.issue), e.at.dev, e.at.ino, uint64(e.at.size), uint64(e.at.mtime.Nano()), uint64(e.at.ctime.Nano())} {
			data = binary.LittleEndian.AppendUint64(data, n)
		}
		data = append(data, e.data...)
	}
	return binary.LittleEndian.AppendUint32(data, indexSum(data)), nil
}

// decodeIndex refuses whatever encode would not have written. The entries share data.
func decodeIndex(data []byte, boot string) (statusIndex, error) {
	body, ok := bytes.CutPrefix(data, indexHeader(boot))
	if !ok || len(body) < indexMinimum || len(data) > maxIndex {
		return statusIndex{}, errIndex
	}
	end := len(data) - indexSumSize
	if indexSum(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return statusIndex{}, errIndex
	}
	r := indexReader{body[:len(body)-indexSumSize]}
	count := r.number()
	if count > uint64(len(r.rest)/entrySize) {
		return statusIndex{}, errIndex
	}
	index, last := statusIndex{r.rest, make([]uint32, 0, count)}, 0
	for range count {
		begin := len(index.entries) - len(r.rest)
		e, ok := r.entry()
		if !ok || e.issue <= last {
			return statusIndex{}, errIndex
		}
		index.begins, last = append(index.begins, uint32(begin)), e.issue
	}
	if len(r.rest) > 0 {
		return statusIndex{}, errIndex
	}
	return index, nil
}

// indexReader is what is left to read of an index.
type indexReader struct{ rest []byte }

func (r *indexReader) number() uint64 {
	n := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[numberSize:]
	return n
}

func (r *indexReader) entry() (e indexed, ok bool) {
	if len(r.rest) < entrySize {
		return e, false
	}
	issue, dev, ino, size, mtime, ctime := r.number(), r.number(), r.number(), r.number(), r.number(), r.number()
	if issue > math.MaxInt || size > maxIndexed || size > uint64(len(r.rest)) {
		return e, false
	}
	e = indexed{int(issue), identity{dev, ino, int64(size), unix.NsecToTimespec(int64(mtime)), unix.NsecToTimespec(int64(ctime))}, r.rest[:size:size]}
	r.rest = r.rest[size:]
	return e, true
}
