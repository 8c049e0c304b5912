package store

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"
)

const testBoot = "0e6e3d8c-6b3e-4f43-8f1c-6f0a7e1d2c3b"

func sampleIndex() []indexed {
	at := func(ino uint64, size int64) identity {
		return identity{dev: 0xfe00, ino: ino, size: size, mtime: unix.NsecToTimespec(testStart.UnixNano()), ctime: unix.NsecToTimespec(testStart.UnixNano() + 5)}
	}
	early := at(math.MaxUint64, 0)
	early.mtime = unix.NsecToTimespec(-1)
	return []indexed{{1, at(12, 2), []byte("{}")}, {42, early, []byte{}}, {math.MaxInt, at(14, 5), []byte("\x00\xff{]\n")}}
}

func encoded(t testing.TB, index []indexed) []byte {
	t.Helper()
	data, err := encodeIndex(index, testBoot)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// summed is an index that begins as data and has the right sum.
func summed(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(data), indexSum(data))
}

// numbered is an index whose numbers and bytes are these.
func numbered(parts ...any) []byte {
	data := indexHeader(testBoot)
	for _, part := range parts {
		switch part := part.(type) {
		case int:
			data = binary.LittleEndian.AppendUint64(data, uint64(part))
		case string:
			data = append(data, part...)
		}
	}
	return summed(data)
}

func TestAnIndexIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, want := range [][]indexed{{}, sampleIndex()} {
		data := encoded(t, want)
		got, err := decodeIndex(data, testBoot)
		if err != nil || !reflect.DeepEqual(got.all(), want) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
		for _, e := range want {
			for place := range len(want) + 1 {
				if found, ok := got.of(e.issue, place); !ok || !reflect.DeepEqual(found, e) {
					t.Errorf("issue %d, looked for at %d, is %+v, %t", e.issue, place, found, ok)
				}
			}
		}
		if e, ok := got.of(41, 1); ok {
			t.Errorf("issue 41 is %+v", e)
		}
		if _, err := decodeIndex(data, "another-boot"); err == nil {
			t.Error("read after the machine was started again")
		}
	}
}

func TestADamagedIndexIsRefused(t *testing.T) {
	t.Parallel()
	data := encoded(t, sampleIndex())
	for n := range data {
		if _, err := decodeIndex(data[:n], testBoot); err == nil {
			t.Errorf("cut off after %d bytes, it is read", n)
		}
		for bit := range 8 {
			damaged := bytes.Clone(data)
			damaged[n] ^= 1 << bit
			if _, err := decodeIndex(damaged, testBoot); err == nil {
				t.Errorf("with bit %d of byte %d flipped, it is read", bit, n)
			}
		}
	}
	if _, err := decodeIndex(append(data, 0), testBoot); err == nil {
		t.Error("with a byte more, it is read")
	}
}

func TestAHostileIndexIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := decodeIndex(numbered(2, 1, 0, 0, 2, 0, 0, "{}", 2, 0, 0, 0, 0, 0), testBoot); err != nil {
		t.Fatalf("the sound one is refused: %v", err)
	}
	large := string(make([]byte, maxIndexed+1))
	for name, data := range map[string][]byte{
		"no count":                   numbered(),
		"fewer files than it counts": numbered(3, 1, 0, 0, 2, 0, 0, "{}", 2, 0, 0, 0, 0, 0),
		"more":                       numbered(1, 1, 0, 0, 2, 0, 0, "{}", 2, 0, 0, 0, 0, 0),
		"a count beyond memory":      numbered(math.MaxInt, 1, 0, 0, 2, 0, 0, "{}"),
		"a negative count":           numbered(-1, 1, 0, 0, 2, 0, 0, "{}"),
		"a size beyond its end":      numbered(1, 1, 0, 0, 3, 0, 0, "{}"),
		"a size beyond memory":       numbered(1, 1, 0, 0, math.MaxInt, 0, 0, "{}"),
		"a negative size":            numbered(1, 1, 0, 0, -1, 0, 0, "{}"),
		"a size of too many bytes":   numbered(1, 1, 0, 0, len(large), 0, 0, large),
		"issue 0":                    numbered(1, 0, 0, 0, 2, 0, 0, "{}"),
		"a negative issue":           numbered(1, -1, 0, 0, 2, 0, 0, "{}"),
		"an issue twice":             numbered(2, 2, 0, 0, 2, 0, 0, "{}", 2, 0, 0, 0, 0, 0),
		"issues in another order":    numbered(2, 2, 0, 0, 2, 0, 0, "{}", 1, 0, 0, 0, 0, 0),
		"half a number":              numbered(1, 1, 0, 0, 2, 0, "\x00\x00\x00"),
	} {
		if index, err := decodeIndex(data, testBoot); err == nil {
			t.Errorf("%s: read as %+v", name, index)
		}
	}
}

func TestAnIndexBeyondItsBoundIsNotWritten(t *testing.T) {
	t.Parallel()
	index := make([]indexed, maxIndex/(entrySize+maxIndexed)+1)
	for i := range index {
		index[i] = indexed{issue: i + 1, data: make([]byte, maxIndexed)}
	}
	if data, err := encodeIndex(index, testBoot); err == nil {
		t.Errorf("%d bytes", len(data))
	}
	if data, err := encodeIndex(index[1:], testBoot); err != nil || len(data) > maxIndex {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// FuzzIndex holds of the reader: what it accepts is byte for byte what would be
// written. It is given what follows the first line, with the right sum too.
func FuzzIndex(f *testing.F) {
	header := len(indexHeader(testBoot))
	for _, index := range [][]indexed{{}, sampleIndex(), sampleIndex()[:1]} {
		data := encoded(f, index)
		f.Add(data[header:])
		f.Add(data[header : len(data)-indexSumSize])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		data := append(indexHeader(testBoot), body...)
		for _, data := range [][]byte{body, data, summed(data)} {
			index, err := decodeIndex(data, testBoot)
			if err != nil {
				continue
			}
			if again := encoded(t, index.all()); !bytes.Equal(again, data) {
				t.Errorf("%q is read as %+v\nwhich is written as %q", data, index, again)
			}
		}
	})
}
