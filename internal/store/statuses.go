package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"signalbox/internal/workflow"
)

// IssueStatus is .worktrees/.status/<issue>.json (S1).
func (s *Store) IssueStatus(issue int) *Document[workflow.IssueStatus] {
	d := &Document[workflow.IssueStatus]{store: s, dir: statusDir, name: strconv.Itoa(issue) + ".json", file: publicFile,
		mkd: publicDir, lock: "document.issue-status.lock", initial: func() workflow.IssueStatus { return workflow.IssueStatus{Issue: issue} },
		check: func(status *workflow.IssueStatus) error { return checkIssueStatus(issue, status) }}
	if issue < 1 {
		d.err = fmt.Errorf("issue number %d: %w", issue, ErrName)
	}
	return d
}

func checkIssueStatus(issue int, status *workflow.IssueStatus) error {
	if status.Issue != issue {
		return &workflow.InvalidError{Pointer: "/issue", Reason: fmt.Sprintf("issue %d in the file of issue %d", status.Issue, issue)}
	}
	if !slices.Contains(statusWords, status.Status) {
		return &workflow.InvalidError{Pointer: "/status", Reason: fmt.Sprintf("status %q is none of %q", status.Status, statusWords)}
	}
	return nil
}

// statusWords are those that a file may have.
var statusWords = []workflow.IssueStatusWord{workflow.IssueRunning, workflow.IssueComplete, workflow.IssueError}

// IssueStatusEntry is one file of .worktrees/.status; Err if it is broken.
type IssueStatusEntry struct {
	Issue  int
	Status workflow.IssueStatus
	Err    error
}

// IssueStatuses reads every issue's status, by number.
func (s *Store) IssueStatuses(ctx context.Context) ([]IssueStatusEntry, error) {
	f, err := s.openFolder(statusDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	names, err := f.dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", statusDir, err)
	}
	all := s.readStatuses(ctx, f, statusFiles(names))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list %s: %w", statusDir, err)
	}
	// One that was removed since it was listed has no status.
	return slices.DeleteFunc(all, func(e IssueStatusEntry) bool { return errors.Is(e.Err, fs.ErrNotExist) }), nil
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

// statusShare is how many files a reader takes at a time.
const statusShare = 64

// readStatuses shares the files out to as many readers as there are processors.
func (s *Store) readStatuses(ctx context.Context, f *folder, files []statusFile) []IssueStatusEntry {
	all := make([]IssueStatusEntry, len(files))
	var readers sync.WaitGroup
	var taken atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		readers.Go(func() {
			var buffer []byte
			for ctx.Err() == nil {
				end := int(taken.Add(statusShare))
				begin := end - statusShare
				if begin >= len(files) {
					return
				}
				for i := begin; i < min(end, len(files)); i++ {
					all[i], buffer = s.readStatus(f, files[i], buffer)
				}
			}
		})
	}
	readers.Wait()
	return all
}

// readStatus reads into buffer, which it returns for the next one.
func (s *Store) readStatus(f *folder, file statusFile, buffer []byte) (IssueStatusEntry, []byte) {
	entry := IssueStatusEntry{Issue: file.issue}
	data, err := f.readInto(file.name, buffer)
	if err != nil {
		entry.Err = err
		return entry, buffer
	}
	status, isPlain := plainStatus(data)
	if entry.Status = status; !isPlain || checkIssueStatus(file.issue, &status) != nil {
		entry.Status, entry.Err = s.IssueStatus(file.issue).understand(data)
	}
	return entry, data
}
