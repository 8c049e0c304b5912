package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// indexRules say when an index is written, and what of.
type indexRules struct {
	// worth is how many files it must save from being read.
	worth int
	// settled is how long a file must not have changed when it was read. A later
	// change within one tick of the file system's clock would leave the times as
	// they are; the coarsest tick is two seconds.
	settled time.Duration
}

var defaultIndexRules = indexRules{worth: 256, settled: 2 * time.Second}

// openIndexFolder opens the folder of the index, in which a Store that leaves the
// documents alone (Config.ReadOnly) may write too: an index says nothing that the
// documents do not. It is nil where an index cannot be had or trusted: what is
// known of a file's identity on a network file system may be a minute old.
func (s *Store) openIndexFolder() *folder {
	st, err := s.statfs(filepath.Join(s.path, filepath.FromSlash(statusDir)))
	if _, network := networkName(st); err != nil || network {
		return nil
	}
	home, err := s.openFolder(privateDir)
	if err != nil {
		return nil
	}
	home.readOnly = false
	return home
}

// readIndex is empty if there is none, and if there is anything wrong with it.
func (s *Store) readIndex(home *folder) (index statusIndex) {
	if home == nil {
		return index
	}
	file, st, err := home.openRegular(indexFileName, os.O_RDONLY, 0)
	if err != nil {
		return index
	}
	defer func() { _ = file.Close() }()
	if st.Size > maxIndex {
		return index
	}
	data := make([]byte, st.Size)
	if _, err := io.ReadFull(file, data); err != nil {
		return index
	}
	if index, err = decodeIndex(data, s.self.BootID); err != nil {
		s.log.Debug("an index is not used", "path", home.join(indexFileName), "reason", err)
	}
	return index
}

// indexDraft is an index that is being written, in a file that was made before
// the files were read that it is about: its time is theirs, by the clock of
// their file system, which need not be the machine's.
type indexDraft struct {
	store *Store
	home  *folder
	temp  string
	file  *os.File
	begun identity
}

// beginIndex is nil if no index is worth it, if none can be written, and in a
// project that was never opened to be changed: git would show it.
func (s *Store) beginIndex(home *folder, saves int) *indexDraft {
	if home == nil || saves < s.index.worth {
		return nil
	}
	if _, err := home.stat(ignoreName); err != nil {
		return nil
	}
	d := &indexDraft{store: s, home: home, temp: home.temporary(indexFileName)}
	var err error
	if d.file, err = home.open(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile); err != nil {
		s.log.Debug("no index is written", "reason", err)
		return nil
	}
	st, err := fstat(d.file)
	if err != nil {
		d.discard(err)
		return nil
	}
	d.begun = identityOf(st)
	return d
}

// mayName reports whether a file that was read just now is the same as long as
// it has this identity.
func (d *indexDraft) mayName(at identity, data []byte) bool {
	age := d.begun.ctime.Nano() - at.ctime.Nano()
	return at.dev == d.begun.dev && at.size == int64(len(data)) && len(data) <= maxIndexed && age >= int64(d.store.index.settled)
}

// finish makes the draft the index. Nothing is flushed: what a power cut leaves
// of it is of an earlier start of the machine.
func (d *indexDraft) finish(ctx context.Context, known []indexed, saves int) {
	err := ctx.Err()
	if err == nil && saves < d.store.index.worth {
		err = fmt.Errorf("it would save %d files from being read", saves)
	}
	if err == nil {
		err = d.write(known)
	}
	if err != nil {
		d.discard(err)
		return
	}
	_ = d.file.Close()
}

func (d *indexDraft) write(known []indexed) error {
	data, err := encodeIndex(known, d.store.self.BootID)
	if err != nil {
		return err
	}
	if _, err := d.file.Write(data); err != nil {
		return err
	}
	return d.home.rename(d.temp, indexFileName)
}

func (d *indexDraft) discard(reason error) {
	err := errors.Join(reason, d.file.Close(), d.home.unlink(d.temp))
	d.store.log.Debug("no index is written", "reason", err)
}
