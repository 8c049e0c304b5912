package login

import (
	"bytes"
	"context"
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

// exchangeEvery is how long a renewed token may be known to one side alone. An old one can be used no
// more, so the person's own agent should not need it meanwhile.
const exchangeEvery = 200 * time.Millisecond

// maxTokens is many times what any agent's file of tokens holds.
const maxTokens = 1 << 20

// begin hands the login out, which is noted before.
func (l *Loan) begin() error {
	person, err := os.ReadFile(l.person())
	if errors.Is(err, fs.ErrNotExist) { // it may have another way to its model
		return nil
	}
	if err == nil {
		err = l.note(person)
	}
	if err == nil {
		err = l.hand(person)
	}
	return err
}

func (l *Loan) exchanging(ctx context.Context) {
	tick := time.NewTicker(exchangeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = l.exchange() // Return does it once more, and says why it cannot
		case <-ctx.Done():
			return
		}
	}
}

// exchange makes both sides the same. What the person's own agent wrote, or they did by logging in or
// out, goes before what the inside has.
func (l *Loan) exchange() error {
	person, err := os.ReadFile(l.person())
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
		return l.note(person) // only now: Settle must not take what was there for something newer
	}
	back, err := readInside(l.inside, l.tokens())
	if err != nil || bytes.Equal(back, l.handed) { // one that is not there, or no file, has nothing to bring
		return nil
	}
	merged, changed := renewed(person, back)
	if !changed {
		return nil
	}
	if err := replace(l.person(), merged); err != nil {
		return err
	}
	l.at, l.handed = merged, back
	return l.note(merged)
}

// hand puts what the person's file holds into the copy.
func (l *Loan) hand(person []byte) error {
	fresh := l.tokens() + ".new"
	err := l.inside.RemoveAll(fresh)
	if err == nil {
		err = l.inside.WriteFile(fresh, person, 0o600)
	}
	if err == nil {
		err = l.inside.Rename(fresh, l.tokens())
	}
	if err != nil {
		return fmt.Errorf("copy login: %w", err)
	}
	l.at, l.handed = person, person
	return nil
}

// person returns the person's file; where that is a link, what it leads to.
func (l *Loan) person() string { return l.login.person() }

func (l Login) person() string {
	path := filepath.Join(l.Home, l.Folder, l.File)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// readInside reads a regular file whose name may by now lead to anything.
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

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// replace writes a file of the host's in one step that outlasts a power cut: there is no second copy of
// a token that was renewed.
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
