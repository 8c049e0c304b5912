package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/workflow"
)

var (
	// logName is <role>.<step>.<attempt>.log, or the transcript beside it.
	logName   = lazy.Pattern(`^[a-z][a-z0-9-]{0,31}\.[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.[0-9]{1,6}\.log(\.transcript\.jsonl)?$`)
	patchName = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.patch$`)
)

// WritePlan makes plan the run's planning.json and returns its path.
func (s *Store) WritePlan(ctx context.Context, ref workflow.RunRef, plan *workflow.Plan) (string, error) {
	data, err := s.encode(plan, indented)
	return s.writeArtifact(ctx, ref, planFile, data, err)
}

// WriteReport makes report the run's report.md and returns its path.
func (s *Store) WriteReport(ctx context.Context, ref workflow.RunRef, report []byte) (string, error) {
	if s.redact != nil {
		report = []byte(s.redact(string(report)))
	}
	return s.writeArtifact(ctx, ref, reportFile, report, nil)
}

// WriteErrors makes problem the run's errors.json and returns its path; nil removes the file.
func (s *Store) WriteErrors(ctx context.Context, ref workflow.RunRef, problem *workflow.Error) (string, error) {
	if problem == nil {
		return "", s.errors(ref).Remove(ctx)
	}
	data, err := s.encode(problem, indented)
	return s.writeArtifact(ctx, ref, errorsFile, data, err)
}

// writeArtifact writes data under the lock of the run's documents, unless encoding it failed.
func (s *Store) writeArtifact(ctx context.Context, ref workflow.RunRef, name string, data []byte, encoding error) (string, error) {
	at := path.Join(RunDir(ref), name)
	if encoding != nil {
		return "", writeError(at, encoding)
	}
	document := Document[struct{}]{store: s, dir: RunDir(ref), name: name, err: validateRun(ref)}
	if err := document.locked(ctx, func(f *folder) error { return f.put(name, data, publicFile) }); err != nil {
		return "", err
	}
	return at, nil
}

// CreateLog opens logs/<name> for appending, so that a
// repeated attempt hides nothing, and returns its path. The caller redacts what it
// writes.
func (s *Store) CreateLog(ref workflow.RunRef, name string) (io.WriteCloser, string, error) {
	dir := path.Join(RunDir(ref), logsDir)
	if err := validateRun(ref); err != nil {
		return nil, "", err
	}
	if !logName().MatchString(name) {
		return nil, "", fmt.Errorf("log %q: %w", name, ErrName)
	}
	f, err := s.openPart(ref, logsDir, privateMode)
	if err != nil {
		return nil, "", err
	}
	defer f.close()
	file, _, err := f.openRegular(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, privateFile)
	if err != nil {
		return nil, "", fmt.Errorf("open log: %w", err)
	}
	return file, path.Join(dir, name), nil
}

// CreateTranscript opens the transcript beside the log of that name, likewise.
func (s *Store) CreateTranscript(ref workflow.RunRef, name string) (io.WriteCloser, error) {
	file, _, err := s.CreateLog(ref, TranscriptPath(name))
	return file, err
}

// TranscriptPath returns the name or path of the transcript beside a log, whether or not it exists.
func TranscriptPath(log string) string { return log + ".transcript.jsonl" }

// WritePatch writes patches/<name> and returns its path. write redacts the content.
func (s *Store) WritePatch(ref workflow.RunRef, name string, write func(io.Writer) error) (string, error) {
	dir := path.Join(RunDir(ref), patchesDir)
	if err := validateRun(ref); err != nil {
		return "", err
	}
	if !patchName().MatchString(name) || strings.Contains(name, "..") {
		return "", fmt.Errorf("patch %q: %w", name, ErrName)
	}
	f, err := s.openPart(ref, patchesDir, publicDir)
	if err != nil {
		return "", err
	}
	defer f.close()
	file, err := f.replaceWith(name, publicFile, write)
	if err != nil {
		return "", writeError(path.Join(dir, name), err)
	}
	return path.Join(dir, name), file.Close()
}

// OpenArtifact opens a file that a document names for reading: a regular file
// below the project root, never through a link.
func (s *Store) OpenArtifact(rel string) (*os.File, error) {
	if _, err := s.Abs(rel); err != nil {
		return nil, errors.Join(ErrName, err)
	}
	f, err := s.openFolder(path.Dir(rel))
	if err != nil {
		return nil, err
	}
	defer f.close()
	file, _, err := f.openRegular(path.Base(rel), os.O_RDONLY, 0)
	return file, err
}

// openPart opens a folder of a run, and makes it if it is missing: git leaves out empty folders.
func (s *Store) openPart(ref workflow.RunRef, name string, perm fs.FileMode) (*folder, error) {
	run, err := s.openFolder(RunDir(ref))
	if err != nil {
		return nil, err
	}
	defer run.close()
	if err := run.mkdir(name, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return s.openFolder(path.Join(RunDir(ref), name))
}
