// Package documents checks documents and brings older ones up to date. It prints nothing.
package documents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/schema"
	"signalbox/internal/store"
	"signalbox/internal/store/strict"
)

// Kinds are the kinds of documents by name, which are also the names of the schemas.
func Kinds() (names []string) {
	for _, kind := range store.Kinds {
		names = append(names, string(kind))
	}
	return slices.Sorted(slices.Values(names))
}

const documentNames = "documents are environments.json, state.json, .worktrees/.status/*.json and runs/*/*/{stage,planning,errors}.json; - is standard input"

// Read reads a document that a person names, from in if the name is -, but never more than a document may have. A relative path
// begins in dir. A repository can bring a link in a document's place, or a person can make a pipe: neither is followed or waited for.
// A link to a folder leads nowhere out of dir.
func Read(in io.Reader, dir, file string) ([]byte, error) {
	if file != "-" {
		opened, err := open(dir, Path(dir, file))
		if errors.Is(err, syscall.ELOOP) {
			err = fmt.Errorf("%s is a symbolic link", file)
		}
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("read document: %w", err), Hint: documentNames}
		}
		defer func() { _ = opened.Close() }()
		info, err := opened.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", file)
		}
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("read document: %w", err), Hint: documentNames}
		}
		in = opened
	}
	data, err := io.ReadAll(io.LimitReader(in, store.MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", file, err)
	}
	return data, nil
}

func open(dir, path string) (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	inside, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(inside) { // the person names a place elsewhere
		return os.OpenFile(path, flags, 0)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(inside); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, syscall.ELOOP
	}
	return root.OpenFile(inside, flags, 0)
}

// Path is the path of a file that a person names in dir; - stays.
func Path(dir, file string) string {
	if file == "-" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// Verdict is the result of checking one file.
type Verdict struct {
	Path     string     `json:"path"`
	Kind     store.Kind `json:"kind"`
	Valid    bool       `json:"valid"`
	Problems []Flaw     `json:"problems"`
}

// Flaw is one problem of a document.
type Flaw struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
}

// Check checks a document as strictly as its reader, and then against its schema. Without a kind, the file's name or its content
// tells the kind.
func Check(in io.Reader, dir string, kind store.Kind, file string) (Verdict, error) {
	if kind != "" && !slices.Contains(store.Kinds, kind) {
		return Verdict{}, &problem.Error{Err: fmt.Errorf("--kind is %q", kind), Hint: "want one of " + strings.Join(Kinds(), ", "), Code: problem.Usage}
	}
	data, err := Read(in, dir, file)
	if err != nil {
		return Verdict{}, err
	}
	path := Path(dir, file)
	if kind == "" {
		var ok bool
		if kind, ok = store.KindOf(path, data); !ok {
			return Verdict{}, &problem.Error{Err: fmt.Errorf("%s: neither its name nor what is in it says which document this is", file),
				Hint: "say it: --kind " + strings.Join(Kinds(), "|"), Code: problem.Usage}
		}
	}
	refused := store.Validate(kind, path, data)
	if len(refused) == 0 && kind == store.KindStage {
		planning, err := Read(in, dir, filepath.Join(filepath.Dir(path), "planning.json"))
		switch {
		case err == nil:
			refused = store.ValidateSteps(path, data, planning)
		case !errors.Is(err, os.ErrNotExist):
			return Verdict{}, err
		}
	}
	flaws := []Flaw{}
	for _, r := range refused {
		flaws = append(flaws, Flaw{r.Line, r.Column, r.Reason})
	}
	if len(flaws) == 0 {
		flaws, err = schemaFlaws(kind, data)
	}
	return Verdict{Path: file, Kind: kind, Valid: len(flaws) == 0, Problems: flaws}, err
}

func schemaFlaws(kind store.Kind, data []byte) ([]Flaw, error) {
	flaws := []Flaw{}
	documents := []string{string(data)}
	if kind == store.KindEvents {
		documents = slices.Collect(strings.Lines(string(data)))
	}
	for i, document := range documents {
		breaches, err := schema.Check(string(kind), []byte(document))
		if err != nil {
			return nil, err
		}
		for _, b := range breaches {
			line, column := strict.Locate([]byte(document), b.Pointer)
			flaws = append(flaws, Flaw{i + line, column, strings.TrimPrefix(b.Pointer+": "+b.Reason, ": ")})
		}
	}
	slices.SortStableFunc(flaws, func(x, y Flaw) int { return x.Line - y.Line })
	return flaws, nil
}

// Migrated is the result of migrating one document.
type Migrated struct {
	store.Place
	Written bool        `json:"written"`
	Fixes   []store.Fix `json:"mends"`
	Error   string      `json:"error,omitempty"`
}

// Migrate brings the documents of o's project up to date. It calls tell for each one that was fixed or that can't be read, and
// returns how many documents there are.
func Migrate(ctx context.Context, o *app.Opener, dryRun bool, tell func(Migrated)) (all int, err error) {
	s, err := o.OpenStoreToChange(ctx, dryRun)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	places, err := s.Documents(ctx)
	if err != nil {
		return 0, err
	}
	for _, place := range places {
		fixes, err := s.Migrate(ctx, place, !dryRun)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		m := Migrated{Place: place, Fixes: fixes, Written: err == nil && len(fixes) > 0 && !dryRun}
		if err != nil {
			m.Error = err.Error()
		}
		if len(fixes) > 0 || err != nil {
			tell(m)
		}
	}
	return len(places), nil
}
