package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fix is one value that a document of an older writer gets.
type Fix struct {
	// Pointer is a JSON Pointer (RFC 6901); empty for a document that moves here from its former place.
	Pointer string `json:"pointer"`
	// Was is nil if there was nothing.
	Was jsontext.Value `json:"was,omitempty"`
	Is  jsontext.Value `json:"is"`
}

// Place is one document of the project.
type Place struct {
	// Path is a slash path below the project root.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
}

// Documents lists the project's existing documents, except logs (events.jsonl).
func (s *Store) Documents(ctx context.Context) ([]Place, error) {
	all, err := s.present(Place{"environments.json", KindEnvironments}, Place{"state.json", KindState})
	if err != nil {
		return nil, err
	}
	if _, err := s.root.Lstat(formerDir + "/environments.json"); err == nil && !slices.Contains(all, Place{"environments.json", KindEnvironments}) {
		all = append(all, Place{"environments.json", KindEnvironments}) // its next update moves it
	}
	statuses, err := s.list(statusDir)
	if err != nil {
		return nil, err
	}
	for _, entry := range statuses {
		if at := path.Join(statusDir, entry.Name()); statusPath().MatchString(at) {
			all = append(all, Place{at, KindStatus})
		}
	}
	refs, err := s.allRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		found, err := s.present(Place{RunDir(ref) + "/" + stageFile, KindStage},
			Place{RunDir(ref) + "/" + planFile, KindPlanning}, Place{RunDir(ref) + "/" + errorsFile, KindErrors})
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

func (s *Store) present(places ...Place) (found []Place, err error) {
	for _, place := range places {
		_, err := s.root.Lstat(place.Path)
		if err == nil {
			found = append(found, place)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return found, nil
}

// Migrate returns what the document's older writer left to fix: missing keys, and
// values that are known to be wrong. With write it fixes them.
func (s *Store) Migrate(ctx context.Context, at Place, write bool) ([]Fix, error) {
	document, err := s.document(at.Kind, at.Path)
	if err != nil {
		return nil, err
	}
	return document.migrate(ctx, write)
}

func (d *Document[T]) migrate(ctx context.Context, write bool) (fixes []Fix, err error) {
	look := func(f *folder) error {
		old, value, err := d.read(f)
		if err != nil {
			return err
		}
		next, err := d.store.encode(&value, indented)
		if err != nil {
			return err
		}
		if fixes = []Fix{{Is: bytes.TrimSpace(next)}}; old != nil {
			fixes = difference("", bytes.TrimSpace(old), bytes.TrimSpace(next))
		}
		if !write || len(fixes) == 0 {
			return nil
		}
		return d.write(f, old, &value)
	}
	if err := errors.Join(d.err, ctx.Err()); err != nil {
		return nil, err
	}
	if write {
		err = d.locked(ctx, look)
		return fixes, err
	}
	f, err := d.store.openFolder(d.dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	err = look(f)
	return fixes, err
}

// difference returns the changes from was to is. A value that is only written
// otherwise, or that is left out because it is empty, is no change.
func difference(pointer string, was, is jsontext.Value) (fixes []Fix) {
	if was.Kind() == is.Kind() {
		switch was.Kind() {
		case '{':
			before, after := partsOf[map[string]jsontext.Value](was), partsOf[map[string]jsontext.Value](is)
			for _, name := range slices.Sorted(maps.Keys(after)) {
				at := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
				if old, ok := before[name]; ok {
					fixes = append(fixes, difference(at, old, after[name])...)
				} else {
					fixes = append(fixes, Fix{Pointer: at, Is: after[name]})
				}
			}
			return fixes
		case '[':
			before, after := partsOf[[]jsontext.Value](was), partsOf[[]jsontext.Value](is)
			for i := range min(len(before), len(after)) {
				fixes = append(fixes, difference(pointer+"/"+strconv.Itoa(i), before[i], after[i])...)
			}
			return fixes
		}
	}
	was, is = was.Clone(), is.Clone()
	if was.Canonicalize() == nil && is.Canonicalize() == nil && bytes.Equal(was, is) {
		return nil
	}
	return []Fix{{pointer, was, is}}
}

// partsOf returns the members of an object, or the entries of a list.
func partsOf[T any](value jsontext.Value) (parts T) {
	_ = json.Unmarshal(value, &parts) // it was read before
	return parts
}
