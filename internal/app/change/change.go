// Package change is a run's change as people read it: files, hunks and lines, and what they say about single lines. It reads what git and
// the run's documents have, and judges nothing. All text in it is cleaned and without secrets; a front end only has to escape it.
package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"signalbox/internal/app"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Kind says on which side a line is.
type Kind byte

const (
	Same    Kind = ' '
	Removed Kind = '-'
	Added   Kind = '+'
)

// Line is a line of a hunk. Old and New are its numbers, from 1; 0 on the side where it isn't.
type Line struct {
	Kind     Kind
	Old, New int
	Text     string
	// NoEnd: the file's last line has no newline at its end.
	NoEnd bool
}

// Hunk is a run of lines with something that changed. Section is the line that git found above it, such as a function's.
type Hunk struct {
	Section string
	Lines   []Line
}

// File is one file of a change. Path and OldPath differ if it was renamed; an added file has no OldMode, a deleted one no NewMode.
type File struct {
	Path, OldPath    string
	OldMode, NewMode string
	// OldID and NewID are the ids of its content; zeros if there is none.
	OldID, NewID   string
	Binary         bool
	Added, Deleted int
	Hunks          []Hunk
	// Cut: lines were left out, because the file or the whole change has too many.
	Cut bool
}

// Renamed reports whether the file has another name than before.
func (f *File) Renamed() bool { return f.OldPath != f.Path }

// Created and Removed report whether the file is only on one side.
func (f *File) Created() bool { return f.OldMode == "" && f.NewMode != "" }
func (f *File) Removed() bool { return f.NewMode == "" && f.OldMode != "" }

// Diff is a change, or one step of it. Base and Head are the commits that were compared; a step has none.
type Diff struct {
	Base, Head string
	Files      []File
	// More: there are more files than are listed.
	More bool
}

// Find returns the file with that name, nil if there is none.
func (d *Diff) Find(path string) *File {
	if i := slices.IndexFunc(d.Files, func(f File) bool { return f.Path == path }); i >= 0 {
		return &d.Files[i]
	}
	return nil
}

// Limits say how much of a change is kept. A line that is left out still counts as added or deleted.
type Limits struct {
	// Files, Lines and FileLines are the most of the change and of one file.
	Files, Lines, FileLines int
	// Only, if set, is the one file of which lines are kept.
	Only string
}

// Page is as much as a page shows at once. Whole is all on which comments can be.
var (
	Page  = Limits{Files: 500, Lines: 3000, FileLines: 800}
	Whole = Limits{Files: 500, Lines: 200_000, FileLines: 20_000}
)

// Single returns the limits for one file alone.
func Single(path string) Limits {
	return Limits{Files: Page.Files, Lines: 20_000, FileLines: 20_000, Only: path}
}

// maxBytes bounds how much of a patch is read.
const maxBytes = 64 << 20

// Read reads what a run changed so far, which is exactly what an approval agrees to. A renamed file is one file of it.
func Read(ctx context.Context, p *app.App, run *workflow.Run, limits Limits) (Diff, error) {
	at, err := p.Change(ctx, run)
	d := Diff{Base: at.Base, Head: at.Head}
	if err != nil || len(at.Files) == 0 {
		return d, err
	}
	err = d.from(p, limits, func(w io.Writer) error { return p.Repo.Diff(ctx, at.Base, at.Head, w) })
	return d, wire.Explained(err)
}

// ReadStep reads what one step or fix changed, as it was recorded: a patch among the run's artifacts, such as S01 or R02.
func ReadStep(p *app.App, run *workflow.Run, step string, limits Limits) (d Diff, err error) {
	steps := Steps(run)
	i := slices.IndexFunc(steps, func(s Step) bool { return s.ID == step })
	if i < 0 {
		return d, fmt.Errorf("run %s has recorded no step %q", run.Ref(), step)
	}
	file, err := p.Store.OpenArtifact(steps[i].patch)
	if err != nil {
		return d, wire.Explained(err)
	}
	defer func() { _ = file.Close() }()
	err = d.from(p, limits, func(w io.Writer) error {
		if _, err := io.Copy(w, file); err != nil {
			return fmt.Errorf("read patch: %w", err)
		}
		return nil
	})
	return d, err
}

// from parses what write writes.
func (d *Diff) from(p *app.App, limits Limits, write func(io.Writer) error) error {
	parsed := NewParser(limits)
	parsed.Name = func(name string) string { return p.Redact.Line(name, nameLimit) }
	hidden := p.Redact.CleanWriter(parsed)
	err := write(hidden)
	if closed := hidden.Close(); err == nil {
		err = closed
	}
	d.Files, d.More = parsed.Files()
	if errors.Is(err, errLong) {
		err = nil
	}
	return err
}

// nameLimit is how long a name is, in characters; git's own limit on most systems is longer than anyone reads.
const nameLimit = 400
