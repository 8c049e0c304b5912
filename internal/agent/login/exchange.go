package login

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// exchangeEvery is how long a renewed token may be known to one side only. The old one is invalid by then, so the user's own agent should not need
// it in that time.
const exchangeEvery = 200 * time.Millisecond

// maxTokens is many times the size of any agent's token file, in bytes.
const maxTokens = 1 << 20

// exchange brings both files to the same tokens. A change by the user (their own agent's renewal, a login or a logout) wins over a change inside.
func (l *Loan) exchange() error {
	person, err := os.ReadFile(l.login.person())
	if errors.Is(err, fs.ErrNotExist) { // logged out
		return nil
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(person, l.at) {
		if err := l.hand(person); err != nil {
			return err
		}
		return l.note(person) // not earlier: Reclaim must not mistake the old content for something newer
	}
	back, err := readInside(l.inside, l.login.tokens())
	if err != nil || bytes.Equal(back, l.handed) { // a missing file, or something that isn't a file, has no tokens
		return nil
	}
	merged, changed := renewed(person, back)
	if !changed {
		return nil
	}
	if err := replace(l.login.person(), merged); err != nil {
		return err
	}
	l.at, l.handed = merged, back
	return l.note(merged)
}

// hand writes the content of the user's file to the copy.
func (l *Loan) hand(person []byte) error {
	fresh := l.login.tokens() + ".new"
	err := l.inside.RemoveAll(fresh)
	if err == nil {
		err = l.inside.WriteFile(fresh, person, 0o600)
	}
	if err == nil {
		err = l.inside.Rename(fresh, l.login.tokens())
	}
	if err != nil {
		return fmt.Errorf("copy login: %w", err)
	}
	l.at, l.handed = person, person
	return nil
}

// person returns the path of the user's file, with a link resolved.
func (l Login) person() string {
	path := filepath.Join(l.Home, l.Folder, l.File)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// readInside reads a regular file inside. An agent ran there, so the name may lead to a link, a pipe or a huge file.
func readInside(inside *os.Root, name string) ([]byte, error) {
	f, err := inside.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokens+1))
	if len(text) > maxTokens {
		return nil, fs.ErrInvalid
	}
	return text, err
}

// digest identifies the content of a file in a record, which must hold no token.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// replace writes a file of the host in one step that survives a power cut: a renewed token has no other copy.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".signalbox-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
