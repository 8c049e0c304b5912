package access

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"signalbox/internal/private"
	"signalbox/internal/redact"
)

// Audit is the record of what users did: a file to which lines are added, one JSON object each. An act has two: one before it begins, so that no act
// goes unrecorded, and one with its outcome.
type Audit struct {
	mu     sync.Mutex
	file   *os.File
	redact *redact.Redactor
	now    func() time.Time
}

// auditName is the record's name in the folder.
const auditName = "audit.jsonl"

// openAudit opens the record, and ends a line that a crash cut off.
func openAudit(folder string, redactor *redact.Redactor, now func() time.Time) (*Audit, error) {
	root, err := private.Make(folder)
	if err != nil {
		return nil, fmt.Errorf("open the record of acts: %w", err)
	}
	defer func() { _ = root.Close() }()
	file, err := private.OpenFile(root, auditName, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("open the record of acts: %w", err)
	}
	last := make([]byte, 1)
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		if _, err = file.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			_, err = file.Write([]byte("\n"))
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the record of acts: %w", err), file.Close())
	}
	return &Audit{file: file, redact: redactor, now: now}, nil
}

// Act is something that a user does.
type Act struct {
	// What is the order, in one word of ours.
	What string `json:"what"`
	// Project, Run and Commit are what it is about.
	Project string `json:"project,omitempty"`
	Run     string `json:"run,omitempty"`
	Commit  string `json:"commit,omitempty"`
	// Detail is what the user wrote, or how.
	Detail string `json:"detail,omitempty"`
}

// The outcomes of acts.
const (
	begun  = "begun"
	done   = "done"
	failed = "failed"
	// refused: a login. It has one line.
	refused = "refused"
)

// line is a line of the record.
type line struct {
	At time.Time `json:"at"`
	// ID joins the two lines of an act.
	ID      string `json:"id"`
	User    string `json:"user"`
	Role    string `json:"role"`
	Only    string `json:"only,omitempty"`
	From    string `json:"from,omitempty"`
	Program string `json:"program,omitempty"`
	Act
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`
}

// maxField is how much of a text a line holds, in runes.
const maxField = 500

// Do records that the user in ctx begins an act, does it, and records its outcome. An act that can't be recorded isn't begun.
func (a *Audit) Do(ctx context.Context, act Act, do func() error) error {
	l := a.line(ctx, act)
	l.ID, l.Outcome = rand.Text(), begun
	if err := a.add(l); err != nil {
		return err
	}
	err := do()
	l.Outcome = done
	if err != nil {
		l.Outcome, l.Error = failed, a.text(err.Error())
	}
	return errors.Join(err, a.add(l))
}

func (a *Audit) line(ctx context.Context, act Act) line {
	u, from := From(ctx), originOf(ctx)
	for _, field := range []*string{&act.What, &act.Project, &act.Run, &act.Commit, &act.Detail} {
		*field = a.text(*field)
	}
	return line{User: a.text(u.Name), Role: u.Role.String(), Only: a.text(u.Only), From: a.text(from.address), Program: a.text(from.program), Act: act}
}

// text is a text without secrets and without characters that deceive a reader of the file.
func (a *Audit) text(s string) string {
	return redact.Line(a.redact.String(redact.Clean(s)), maxField)
}

func (a *Audit) add(l line) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	l.At = a.now().UTC()
	data, err := json.Marshal(l)
	if err == nil {
		_, err = a.file.Write(append(data, '\n'))
	}
	if err = errors.Join(err, a.file.Sync()); err != nil {
		return fmt.Errorf("record the act in %s: %w", a.file.Name(), err)
	}
	return nil
}

type originKey struct{}

// origin is where a request came from.
type origin struct{ address, program string }

func originOf(ctx context.Context) origin {
	o, _ := ctx.Value(originKey{}).(origin)
	return o
}
