package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"signalbox/internal/workflow"
)

// IssueStatusEntry is one file of .worktrees/.status; Err if it is broken.
type IssueStatusEntry struct {
	Issue  int
	Status workflow.IssueStatus
	Err    error
}

// IssueStatuses reads every issue's status, by number. A file that is known from
// the index to be what it was is not opened.
func (s *Store) IssueStatuses(ctx context.Context) ([]IssueStatusEntry, error) {
	f, err := s.openFolder(statusDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	all, err := s.listStatuses(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", statusDir, err)
	}
	// One that was removed since it was listed has no status.
	return slices.DeleteFunc(all, func(e IssueStatusEntry) bool { return errors.Is(e.Err, fs.ErrNotExist) }), nil
}

// listStatuses reads the folder and its index at the same time: each takes as
// long as starting the program.
func (s *Store) listStatuses(ctx context.Context, f *folder) (_ []IssueStatusEntry, err error) {
	var files []statusFile
	var reading sync.WaitGroup
	reading.Go(func() {
		var names []string
		names, err = f.dir.Readdirnames(-1)
		files = statusFiles(names)
	})
	home := s.openIndexFolder()
	if home != nil {
		defer home.close()
	}
	index := s.readIndex(home)
	reading.Wait()
	if err != nil {
		return nil, err
	}
	l := &statusListing{s, f, files, make([]IssueStatusEntry, len(files)), make([]bool, len(files)), make([]*indexed, len(files))}
	l.readAll(ctx, home, index)
	return l.all, ctx.Err()
}

type statusFile struct {
	issue int
	name  string
}

// statusFiles are those of the names that are an issue's, by its number.
func statusFiles(names []string) []statusFile {
	files := make([]statusFile, 0, len(names))
	for _, name := range names {
		base, isJSON := strings.CutSuffix(name, ".json")
		issue, err := strconv.Atoi(base)
		if isJSON && err == nil && issue >= 1 && base[0] != '0' && base[0] != '+' {
			files = append(files, statusFile{issue, name})
		}
	}
	slices.SortFunc(files, func(a, b statusFile) int { return cmp.Compare(a.issue, b.issue) })
	return files
}

// statusListing is one listing of .worktrees/.status. What is said of a file is
// at the file's place.
type statusListing struct {
	store  *Store
	folder *folder
	files  []statusFile
	all    []IssueStatusEntry
	// recalled: the index knows the file as it is.
	recalled []bool
	// fresh is what the next index may say of a file that was read; nil if nothing.
	fresh []*indexed
}

// readAll takes from the index what it knows, reads the other files, and writes
// an index into home if one is worth it.
func (l *statusListing) readAll(ctx context.Context, home *folder, index statusIndex) {
	l.recall(ctx, index)
	unknown := l.unknown()
	gone := len(index.begins) - (len(l.files) - len(unknown))
	draft := l.store.beginIndex(home, max(len(unknown), gone))
	l.read(ctx, unknown, draft)
	if draft != nil {
		draft.finish(ctx, l.known(index), max(len(unknown)-len(l.unknown()), gone))
	}
}

// recall takes from the index what the files say that are what they were.
func (l *statusListing) recall(ctx context.Context, index statusIndex) {
	if len(index.begins) == 0 {
		return
	}
	share(ctx, len(l.files), func(i int, buffer []byte) []byte {
		file := l.files[i]
		was, ok := index.of(file.issue, i)
		if !ok {
			return buffer
		}
		if at, err := l.folder.stat(file.name); err == nil && at == was.at {
			l.recalled[i], l.all[i] = true, l.store.statusEntry(file.issue, was.data)
		}
		return buffer
	})
}

// unknown are the places of the files of which the next index would say nothing.
func (l *statusListing) unknown() (places []int) {
	for i, recalled := range l.recalled {
		if !recalled && l.fresh[i] == nil {
			places = append(places, i)
		}
	}
	return places
}

// known is what the next index says, if index is the one that was recalled from.
func (l *statusListing) known(index statusIndex) (all []indexed) {
	for i, file := range l.files {
		if l.recalled[i] {
			was, _ := index.of(file.issue, i)
			all = append(all, was)
		} else if l.fresh[i] != nil {
			all = append(all, *l.fresh[i])
		}
	}
	return all
}

// read reads the files at these places. draft is nil if no index is written.
func (l *statusListing) read(ctx context.Context, places []int, draft *indexDraft) {
	share(ctx, len(places), func(n int, buffer []byte) []byte {
		i := places[n]
		file := l.files[i]
		data, at, err := l.folder.readInto(file.name, buffer)
		if err != nil {
			l.all[i] = IssueStatusEntry{Issue: file.issue, Err: err}
			return buffer
		}
		l.all[i] = l.store.statusEntry(file.issue, data)
		if draft != nil && draft.mayName(at, data) {
			l.fresh[i] = &indexed{file.issue, at, slices.Clone(data)}
		}
		return data
	})
}

// statusEntry is what the file of an issue says.
func (s *Store) statusEntry(issue int, data []byte) IssueStatusEntry {
	entry := IssueStatusEntry{Issue: issue}
	status, isPlain := plainStatus(data)
	if entry.Status = status; !isPlain || checkIssueStatus(issue, &status) != nil {
		entry.Status, entry.Err = s.IssueStatus(issue).understand(data)
	}
	return entry
}
