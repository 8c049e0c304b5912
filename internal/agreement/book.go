package agreement

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"signalbox/internal/private"
)

// Book holds the agreements of one project.
type Book struct{ project, folder string }

// maxSize is the largest record that is read, in bytes.
const maxSize = 4 << 20

// Open returns the agreements of the project at an absolute root. They are below $XDG_STATE_HOME or ~/.local/state; Open creates nothing. It fails
// if neither is usable, or if the state folder is inside the project.
func Open(project string, getenv func(string) string) (Book, error) {
	state, err := private.State(getenv)
	if err != nil {
		return Book{}, err
	}
	folder := filepath.Join(state, "trust", Fingerprint(project))
	if inside(folder, project) || inside(real(folder), real(project)) {
		return Book{}, fmt.Errorf("the state folder %s is inside the project: set XDG_STATE_HOME to one outside", filepath.Dir(state))
	}
	return Book{project: project, folder: folder}, nil
}

// Agreed reports whether the user agreed to exactly this content.
func (b Book) Agreed(kind Kind, fingerprint string) (bool, error) {
	root, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = root.Close() }()
	a, err := b.read(root, name(kind, fingerprint))
	return err == nil && a.Kind == kind && a.Fingerprint == fingerprint, err
}

// Agree records that the user agreed. Repeating it is harmless.
func (b Book) Agree(kind Kind, fingerprint, how string, items []string, now time.Time) error {
	if digits, err := hex.DecodeString(fingerprint); err != nil || len(digits) != 32 {
		return fmt.Errorf("record agreement: %q is no fingerprint", fingerprint)
	}
	a := Agreement{Version: version, Project: b.project, Kind: kind, Fingerprint: fingerprint, Items: items, How: how, AgreedAt: now.UTC()}
	err := b.write(a)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("record agreement in %s: %w: let yourself write there, or set XDG_STATE_HOME to a folder where you can", b.folder, err)
	case err != nil:
		return fmt.Errorf("record agreement in %s: %w", b.folder, err)
	}
	return nil
}

// List returns the agreements of a kind, oldest first. It leaves out unreadable records; their questions are asked again.
func (b Book) List(kind Kind) (list []Agreement, err error) {
	root, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	names, err := recorded(root, kind)
	for _, name := range names {
		if a, err := b.read(root, name); err == nil && a.Kind == kind {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(x, y Agreement) int {
		return cmp.Or(x.AgreedAt.Compare(y.AgreedAt), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	return list, err
}

// Withdraw deletes every agreement of a kind and returns how many there were.
func (b Book) Withdraw(kind Kind) (n int, err error) {
	root, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	names, err := recorded(root, kind)
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return n, fmt.Errorf("withdraw agreement: %w", err)
		}
		n++
	}
	return n, err
}

// open opens the project's folder. The folder must belong to the user alone: anyone who can write to it could agree in the user's name.
func (b Book) open() (*os.Root, error) {
	root, err := private.Open(b.folder)
	if err != nil {
		return nil, fmt.Errorf("open agreements: %w", err)
	}
	return root, nil
}

func (b Book) write(a Agreement) (err error) {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	root, err := private.Make(b.folder)
	if err != nil {
		return err
	}
	return errors.Join(private.Replace(root, name(a.Kind, a.Fingerprint), append(data, '\n')), root.Close())
}

// read reads one record. A missing or broken record is no agreement; a record that others could have written is an error.
func (b Book) read(root *os.Root, name string) (a Agreement, err error) {
	data, err := private.Read(root, name, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return Agreement{}, nil
	}
	if err != nil {
		return Agreement{}, fmt.Errorf("read agreement: %w", err)
	}
	if json.Unmarshal(data, &a) != nil || a.Version != version || a.Project != b.project {
		return Agreement{}, nil
	}
	return a, nil
}

func name(kind Kind, fingerprint string) string { return string(kind) + "-" + fingerprint + ".json" }

// recorded returns the file names of the records of a kind.
func recorded(root *os.Root, kind Kind) (names []string, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list agreements: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), string(kind)+"-") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// inside reports whether a clean absolute path is dir or below it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// real resolves the links in the longest part of a path that exists.
func real(path string) string {
	for at := path; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, strings.TrimPrefix(path, at))
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}
