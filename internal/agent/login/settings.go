package login

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copySettings puts the settings inside and replaces what an earlier call left there: settings planted by one role must not affect the next.
func (l *Loan) copySettings() error {
	if err := makeFolder(l.inside, filepath.Dir(l.login.tokens())); err != nil {
		return err
	}
	for _, pattern := range l.login.Settings {
		// Delete everything inside that matches the pattern.
		dir := filepath.Join(l.login.Folder, filepath.Dir(pattern))
		if err := makeFolder(l.inside, dir); err != nil {
			return fmt.Errorf("clear %s: %w", pattern, err)
		}
		entries, err := fs.ReadDir(l.inside.FS(), dir)
		if err != nil {
			return fmt.Errorf("clear %s: %w", pattern, err)
		}
		for _, entry := range entries {
			if matched, err := filepath.Match(filepath.Base(pattern), entry.Name()); err == nil && matched {
				if err := l.inside.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
					return fmt.Errorf("clear %s: %w", pattern, err)
				}
			}
		}

		found, err := filepath.Glob(filepath.Join(l.login.Home, l.login.Folder, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := l.setting(path); err != nil {
				return fmt.Errorf("copy settings %s: %w", path, err)
			}
		}
	}
	return nil
}

// setting copies or shows one of the user's files or folders.
func (l *Loan) setting(path string) error {
	name, err := filepath.Rel(l.login.Home, path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) { // a link that leads nowhere
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		l.reads[name] = real
		return l.inside.Symlink(real, name)
	case !info.Mode().IsRegular() || info.Size() > maxSetting:
		return nil
	}
	text, err := os.ReadFile(real)
	if err != nil {
		return err
	}
	return l.inside.WriteFile(name, text, 0o600)
}

// maxSetting is many times the size of any settings file, in bytes.
const maxSetting = 8 << 20

// makeFolder makes a folder inside and checks that every part is a folder: an agent that ran there may have replaced any of them.
func makeFolder(inside *os.Root, name string) error {
	part := ""
	for word := range strings.SplitSeq(name, string(filepath.Separator)) {
		part = filepath.Join(part, word)
		info, err := inside.Lstat(part)
		switch {
		case err == nil && info.IsDir():
			continue
		case err == nil:
			err = inside.RemoveAll(part)
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		if err == nil {
			err = inside.Mkdir(part, 0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
